// does not compile: conversion from|no viable conversion
#include "base/quantity.hpp"

using namespace clustersim;

// Watts times hours is an energy, not a price.
const Dollars nonsense = Watts{700.0} * Seconds{3600.0};
