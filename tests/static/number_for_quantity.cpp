// does not compile: could not convert|no matching function|conversion from|no viable conversion
#include "base/quantity.hpp"

using namespace clustersim;

Seconds transfer_time(Bytes size);
const Seconds nonsense = transfer_time(1.0e9);
