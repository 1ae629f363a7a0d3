// does not compile: conversion from|no viable conversion
#include "base/index.hpp"

using namespace clustersim;

using RankId = Index<struct RankTag>;
using EdgeId = Index<struct EdgeTag>;
const EdgeId nonsense = RankId{3};
