// does not compile: cannot convert|no viable conversion
#include "base/quantity.hpp"

using namespace clustersim;

const double nonsense = Bytes{1.0};
