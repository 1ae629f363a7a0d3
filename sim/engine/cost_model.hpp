#pragma once
// Times of single operators on a given machine, memoised: the only place where laws meet the
// program.

#include "law/device.hpp"
#include "network/collective.hpp"
#include "plan/step_program.hpp"
#include "spec/scenario.hpp"

#include <map>
#include <utility>
#include <vector>

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
  Seconds device;    // on its lane
  Seconds host;      // dispatch
  Joules work;       // of the board, above its idle power
  KernelTime kernel; // zero for collectives and joins
  CollectiveTime collective;
};

class CostModel {
public:
  CostModel(const Scenario& scenario, Network& network, const ResourceScale& scale = {});
  [[nodiscard]] OpTime time(const Op& op);
  /// Compute time lost per second of communication that runs beside it.
  [[nodiscard]] double tax() const { return tax_; }
  /// The slowest of many chips paces the job: the step is this much longer than one chip's.
  [[nodiscard]] double straggler() const { return straggler_; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] Network& network() const { return *network_; }
  [[nodiscard]] const ResourceScale& scale() const { return scale_; }

private:
  [[nodiscard]] KernelTime kernel_time(const Work& work);
  [[nodiscard]] Seconds host_time(const Op& op) const;

  Device device_;
  Network* network_;
  ResourceScale scale_;
  Stack::Host host_;
  double tax_ = 0.0, straggler_ = 1.0;
  std::map<GemmShape, KernelTime> gemms_;
  std::map<Collective, CollectiveTime> collectives_;
};

} // namespace clustersim
