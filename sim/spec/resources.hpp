#pragma once
// What a machine can be short of, as factors on its speed. Elasticities re-time a step with one of
// them moved (docs/explanation/bottlenecks.md). A latency's "speed" is its inverse.

#include <map>
#include <string>

namespace clustersim {

struct LinkScale {
  double bandwidth = 1.0;
  double latency = 1.0; // 1.1 = latencies 10 % shorter
};

struct ResourceScale {
  double matrix = 1.0, vector = 1.0, memory = 1.0, l2 = 1.0;
  double launch = 1.0;                    // gaps, start and drain of kernels
  double host = 1.0;                      // dispatch
  std::map<std::string, LinkScale> links; // by link id; absent = 1

  [[nodiscard]] LinkScale link(const std::string& id) const {
    const auto found = links.find(id);
    return found == links.end() ? LinkScale{} : found->second;
  }
};

} // namespace clustersim
