// compiles
#include "base/index.hpp"
#include "base/quantity.hpp"

#include <type_traits>

using namespace clustersim;

// What the other files of this folder get wrong, done right.
static_assert(std::is_same_v<decltype(Bytes{} / BytesPerSecond{}), Seconds>);
static_assert(std::is_same_v<decltype(Flops{} / Bytes{}), FlopsPerByte>);
static_assert(std::is_same_v<decltype(FlopsPerSecond{} / BytesPerSecond{}), FlopsPerByte>);
static_assert(std::is_same_v<decltype(Watts{} * Seconds{}), Joules>);
static_assert(std::is_same_v<decltype(Joules{} * DollarsPerJoule{}), Dollars>);
static_assert(std::is_same_v<decltype(Bytes{} / Bytes{}), double>);
static_assert(std::is_same_v<decltype(1.0 / Seconds{}), Hertz>);
static_assert(Bytes{80e9} / BytesPerSecond{40e9} == Seconds{2.0});
static_assert(Bytes{1.0} + Bytes{2.0} == Bytes{3.0});
static_assert(Seconds{1.0} < Seconds{2.0});
static_assert(!std::is_convertible_v<double, Bytes>);
static_assert(!std::is_convertible_v<Bytes, double>);

using RankId = Index<struct RankTag>;
static_assert(RankId{3}.at() == 3);
