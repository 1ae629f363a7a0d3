#include "study/parallel.hpp"

#include <omp.h>

#include <exception>
#include <vector>

namespace clustersim {

int threads_for(int wish) {
  return wish > 0 ? wish : omp_get_max_threads();
}

void in_parallel(int threads, std::size_t first, std::size_t end,
                 const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> thrown(end - first);
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::size_t i = first; i < end; ++i) {
    try {
      body(i);
    } catch (...) {
      thrown[i - first] = std::current_exception();
    }
  }
  for (const std::exception_ptr& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

} // namespace clustersim
