#pragma once
// Times of single operators on a given machine, memoised: the only place where laws meet the program.

#include "law/device.hpp"
#include "network/collective.hpp"
#include "plan/step_program.hpp"
#include "spec/scenario.hpp"

#include <map>
#include <memory>

namespace clustersim {

/// The network of a scenario, shared by all re-timings of it.
struct Network {
  explicit Network(const Cluster& cluster);
  LinkGraph graph;
  Router router;
  const std::vector<CollectiveForm>& forms(CollectiveKind kind, GroupFamily family);

private:
  std::map<std::pair<CollectiveKind, GroupFamily>, std::vector<CollectiveForm>> forms_;
};

struct OpTime {
  Seconds device;          // on its lane
  Seconds host;            // dispatch
  KernelTime kernel;       // zero for collectives and joins
  CollectiveTime collective;
};

class CostModel {
public:
  CostModel(const Scenario& scenario, Network& network, const ResourceScale& scale = {});
  [[nodiscard]] OpTime time(const Op& op);
  [[nodiscard]] double tax() const { return tax_; }
  [[nodiscard]] const Device& device() const { return device_; }

private:
  Device device_;
  Network* network_;
  ResourceScale scale_;
  Seconds host_per_operator_;
  double host_backward_factor_ = 1.0, host_per_collective_ = 0.0, tax_ = 0.0;
  std::map<GemmShape, KernelTime> gemms_;
  std::map<Collective, CollectiveTime> collectives_;
};

} // namespace clustersim
