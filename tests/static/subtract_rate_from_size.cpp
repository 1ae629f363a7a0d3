// does not compile: no match for 'operator-'|invalid operands to binary expression
#include "base/quantity.hpp"

using namespace clustersim;

const auto nonsense = Bytes{1.0} - BytesPerSecond{1.0};
