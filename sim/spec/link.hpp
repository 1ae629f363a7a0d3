#pragma once
// A kind of link as data (topologies/links/*.toml): what one unit of it carries per direction, what
// of that is achieved, and what a collective library pays on it. Read-only facts; no behaviour.

#include "base/quantity.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// How a collective library drives a link: NCCL's LL / LL128 / Simple, or in-switch reduction.
/// A collective's protocol is chosen by size, by the minimum of the closed forms (docs/explanation/
/// collectives.md). Constants are fitted on microbenchmarks only; each file names its source.
struct Protocol {
  std::string name;                // "low-latency", "bulk", "in-switch"
  Seconds launch;                  // fixed cost of starting the collective (t0)
  Seconds step;                    // per ring or tree step over this link (h)
  double bandwidth_fraction = 1.0; // of the link's achieved bandwidth
  Seconds fill;                    // pipeline fill: time += sqrt(fill · steady time)
  double tree_fraction = 0.92;     // of that bandwidth in trees, whose ranks feed several others
  Seconds tree_step{};             // in place of step in trees; zero = the same
};

/// What the library expects of large messages over a link when it chooses between ring and tree
/// across nodes (NCCL's tuner). It takes what it believes to be faster, which is not always.
struct Tuner {
  Seconds launch, ring_step, tree_step; // no ring step: nothing is believed
  double ring_plateau = 1.0;            // times a ring's latency
  double tree_fraction = 1.0;           // of a ring's bandwidth
};

struct Link {
  std::string id;     // "nvlink4"
  std::string name;   // "NVLink 4"
  std::string family; // "nvlink", "pcie", "infiniband", "ethernet", "ici", "xgmi", "host"
  std::vector<std::string> aliases;
  std::string note;
  BytesPerSecond bandwidth;       // one unit (link, x16 port, NIC port), one direction, data sheet
  double achieved_fraction = 1.0; // (cal) large-message share of `bandwidth`
  Seconds latency;                // one traversal
  double through_root = 1.0;      // (cal) share of it that peers reach across a PCIe root complex
  double contention = 0.0; // (cal) k chips of a node together carry 1/(1 + contention·(k/2 − 1))
  BytesPerSecond local_copy; // (cal) copy or reduction of a rank's own share, S/n over this rate
  double spread = 0.12;      // one standard deviation of ln(measured / predicted) of collectives
  std::vector<Protocol> protocols;
  Tuner tuner;
};

} // namespace clustersim
