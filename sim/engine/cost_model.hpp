#pragma once
// Times of single operators on a given machine, memoised: the only place where laws meet the
// program.

#include "law/device.hpp"
#include "network/collective.hpp"
#include "plan/step_program.hpp"
#include "spec/scenario.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

/// A copy between every chip of a node and its host: what the busiest edge of every class of link
/// takes per byte of one chip, and the longest way's latency by class.
struct HostCopy {
  struct Term {
    std::string link;
    SecondsPerByte busiest;
    Seconds latency;
  };
  std::vector<Term> terms;
};

/// The network of a scenario, shared by all re-timings of it.
struct Network {
  explicit Network(const Cluster& cluster);
  LinkGraph graph;
  Router router;
  const std::vector<CollectiveForm>& forms(CollectiveKind kind, GroupFamily family);
  /// All chips of the first node copy at once to or from the nearest memory of their host.
  const HostCopy& host_copy(bool to_host);

private:
  std::map<std::pair<CollectiveKind, GroupFamily>, std::vector<CollectiveForm>> forms_;
  std::map<bool, HostCopy> copies_;
};

struct OpTime {
  Seconds device;    // on its lane
  Seconds host;      // dispatch
  Joules work;       // of the board, above its idle power
  KernelTime kernel; // zero for collectives and joins
  CollectiveTime collective;
};

/// What scales the drives of a node, among the links.
inline constexpr const char* local_drives = "local drives";

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
  [[nodiscard]] Seconds host_work(const HostWork& work) const;

  Device device_;
  Network* network_;
  ResourceScale scale_;
  Stack::Host host_;
  Node::Host machine_;
  double chips_ = 1.0; // of a host
  double tax_ = 0.0, straggler_ = 1.0;
  std::map<GemmShape, KernelTime> gemms_;
  std::map<Collective, CollectiveTime> collectives_;
};

} // namespace clustersim
