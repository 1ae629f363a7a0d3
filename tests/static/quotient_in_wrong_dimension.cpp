// does not compile: conversion from|no viable conversion
#include "base/quantity.hpp"

using namespace clustersim;

// Bytes / BytesPerSecond is a time, not a rate.
const Hertz nonsense = Bytes{1.0} / BytesPerSecond{1.0};
