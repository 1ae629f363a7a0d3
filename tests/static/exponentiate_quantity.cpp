// does not compile: no matching function|cannot convert
#include "base/quantity.hpp"

#include <cmath>

using namespace clustersim;

const double nonsense = std::sqrt(Seconds{4.0});
