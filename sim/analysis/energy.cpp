#include "analysis/energy.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace clustersim {
namespace {

constexpr std::array<std::string_view, 6> names{"forward",   "recompute",     "backward",
                                                "optimizer", "communication", "waiting"};
constexpr std::size_t optimizer = 3, communication = 4, waiting = 5;

std::size_t item_of(const OpRecord& op) {
  if (op.axis || op.of_host) return communication;
  switch (op.phase) {
  case Phase::forward:
    return 0;
  case Phase::recompute:
    return 1;
  case Phase::backward:
    return 2;
  case Phase::gradient:
  case Phase::optimizer:
    return optimizer;
  }
  throw Bug("unknown phase");
}

Seconds working_time(const Timeline& timeline) {
  Seconds sum;
  for (const BreakdownItem& item : timeline.breakdown) {
    if (item.activity == Activity::working) sum += item.time;
  }
  return sum;
}

} // namespace

ChipEnergy chip_energy(const Timeline& timeline, const EnergyRates& rates) {
  std::array<Joules, names.size()> items{};
  Seconds kernels;
  for (const OpRecord& op : timeline.ops) {
    const double calls = static_cast<double>(op.calls);
    items[item_of(op)] += op.each.work * calls;
    if (!op.axis && !op.of_host) {
      items[item_of(op)] += rates.idle * op.each.kernel.total * calls;
      kernels += op.each.kernel.total * calls;
    }
  }
  const Seconds working = std::max(working_time(timeline), kernels);
  items[communication] += rates.idle * (working - kernels);
  items[waiting] = rates.idle * std::max(Seconds{0.0}, timeline.step - working);

  Joules total;
  for (const Joules item : items)
    total += item;
  // A kernel at the limit leaves nothing to communication beside it.
  const Joules excess = std::max(Joules{0.0}, total - rates.limit * timeline.step);
  items[communication] -= std::min(excess, items[communication]);
  total = std::min(total, rates.limit * timeline.step);

  ChipEnergy result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].si() > 0.0) result.items.push_back({std::string(names[i]), items[i]});
  }
  result.average = total / timeline.step;
  result.busy =
      working.si() > 0.0 ? std::min(rates.limit, (total - items[waiting]) / working) : rates.idle;
  return result;
}

Watts beside_the_chips(const Scenario& scenario) {
  const Node& node = scenario.partition().node;
  return node.power ? std::max(Watts{0}, *node.power - node.chip.power.tdp * node.chips) : Watts{0};
}

Joules site_energy(const Scenario& scenario, Watts chip, Seconds time) {
  const Partition& partition = scenario.partition();
  const Watts node = chip * partition.node.chips + beside_the_chips(scenario);
  return node * time * (partition.nodes * scenario.power.pue);
}

} // namespace clustersim
