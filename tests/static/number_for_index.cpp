// does not compile: conversion from|no viable conversion
#include "base/index.hpp"

using namespace clustersim;

using RankId = Index<struct RankTag>;
const RankId nonsense = std::size_t{3};
