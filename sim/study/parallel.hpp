#pragma once
// Independent pieces of work over all threads. No exception may leave a parallel region.

#include <cstddef>
#include <functional>

namespace clustersim {

/// Threads for a wish; 0 = as many as the machine offers.
[[nodiscard]] int threads_for(int wish);

/// Runs `body(i)` for all i from first to before end; the first exception by i is thrown on.
void in_parallel(int threads, std::size_t first, std::size_t end,
                 const std::function<void(std::size_t)>& body);

} // namespace clustersim
