#include "cli/templates.hpp"

#include <algorithm>
#include <array>

namespace clustersim::cli {
namespace {

constexpr std::string_view scenario_text = R"(# A training step to time: clustersim run {id}.toml
# Every key with its range and default: docs/reference/input.md. Names: clustersim list.
schema = 1
title  = "Llama 3 8B on one DGX H100"

[cluster]
node  = "dgx-h100" # clustersim list nodes
nodes = 1
# fabric = "rail-optimized-ndr" # needed above one node: clustersim list fabrics

[model]
use = "llama-3-8b" # clustersim list transformers

[training]
sequence     = 8192 # tokens; 8k means the same
global_batch = 128  # sequences per optimizer step, all chips together
precision    = "bf16"
optimizer    = "adamw"
stack        = "megatron-core-2024" # the software: clustersim list stacks
# gradient_dtype = "bf16"           # halves what gradients take
# tokens         = 1e12             # of the whole run, for its time and cost

[plan] # tensor x data = chips of the cluster
tensor            = 2
data              = 4
sequence_parallel = true
zero              = 1 # 0: every replica keeps the optimizer's states; 1: they share them
micro_batch       = 1 # sequences at a time
recompute         = "selective" # none, selective or full: memory against time

[power]
# cap = "500 W" # of one chip
pue = 1.2       # what the building draws over what the computers draw

[prices]
electricity = "0.12 USD/kWh"

# What if? Any figure of the catalogue can be replaced:
# [override.chip."h100-sxm5-80gb"]
# memory.bandwidth = "4.8 TB/s"
)";

constexpr std::string_view chip_text =
    R"(# A chip of your own, found by its id from scenarios whose folder holds models/chips/.
# Peaks are dense (no sparsity) with FP32 accumulation; bandwidths are per direction.
# Check it: clustersim check FILE. See it: clustersim roofline --chip {id}.
schema       = 1
id           = "{id}"
name         = "My chip"
aliases      = []
vendor       = "ACME"
kind         = "gpu" # gpu, tpu, accelerator or cpu
architecture = "Example"
released     = "2025-01-01"
source       = "datasheet" # of every figure that names no other

[sources]
datasheet = "where the figures come from: document, version, page"

[compute]
units       = 132 # SMs, CUs, cores or MXUs
boost_clock = "1830 MHz" # the clock behind the peaks

[compute.matrix] # leave out what the chip does not have
tf32 = "400 TFLOP/s"
fp16 = "800 TFLOP/s"
bf16 = "800 TFLOP/s"

[compute.vector]
fp32 = "50 TFLOP/s"

[memory]
type      = "HBM3"
capacity  = "96 GB"
bandwidth = "3 TB/s"
# usable  = "94 GB" # what the driver leaves to a program

[l2]
capacity = "50 MiB"
# bandwidth = { value = "9 TB/s", source = "measured" } # then declare it in [sources]

[power]
tdp = "600 W"

[[port]]
link  = "pcie5-x16" # clustersim list links
count = 1

[calibration]
use = "hopper" # kernel constants of the nearest family: clustersim list calibrations
)";

constexpr std::string_view node_text =
    R"(# A node of your own, found by its id from scenarios whose folder holds topologies/nodes/.
# Check it: clustersim check FILE.
schema  = 1
id      = "{id}"
name    = "My node"
aliases = []
source  = "manual"

[sources]
manual = "where the figures come from: document, version, page"

[node]
chip  = "h100-sxm5-80gb" # clustersim list chips
chips = 8

[scale_up] # direct links between chips
shape          = "switched" # none (PCIe only), switched, mesh or bridged (pairs)
link           = "nvlink4"  # clustersim list links
links_per_chip = 18

[host]
sockets      = 2
pcie         = "pcie5-x16"
socket_link  = "upi-spr"  # between the sockets
memory       = "ddr5-8ch" # of one socket
peer_to_peer = true       # false: chip to chip goes through host memory

[nic]
count = 8
link  = "ib-ndr"

# [site]
# power = "10 kW"
)";

constexpr std::array templates{
    Template{"scenario", "scenario.toml", scenario_text},
    Template{"chip", "models/chips/my-chip.toml", chip_text},
    Template{"node", "topologies/nodes/my-node.toml", node_text},
};

} // namespace

const Template* find_template(std::string_view kind) {
  const auto found = std::find_if(templates.begin(), templates.end(),
                                  [&](const Template& one) { return one.kind == kind; });
  return found == templates.end() ? nullptr : &*found;
}

std::string filled(const Template& one, std::string_view id) {
  constexpr std::string_view slot = "{id}";
  std::string out{one.text};
  for (std::size_t at = out.find(slot); at != std::string::npos; at = out.find(slot, at)) {
    out.replace(at, slot.size(), id);
    at += id.size();
  }
  return out;
}

} // namespace clustersim::cli
