// does not compile: no match for 'operator<'|invalid operands to binary expression
#include "base/quantity.hpp"

using namespace clustersim;

// The slip that once let a roofline compare FLOP/s with GB/s.
const bool nonsense = FlopsPerSecond{1.0} < BytesPerSecond{1.0};
