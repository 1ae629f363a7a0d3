#include "engine/clocks.hpp"

namespace clustersim {
namespace {

void apply(Clocks& clocks, const Op& op, const OpTime& time, double tax, const Waits& waits) {
  if (const auto* join = std::get_if<Join>(&op.work)) {
    if (waits.on(join->lane)) clocks.wait_for(compute_clock, clock_of(join->lane));
    return;
  }
  if (op.lane == Lane::pipeline && !waits.on(Lane::pipeline)) return;
  if (waits.host) {
    clocks.delay(host_clock, time.host.si());
    clocks.wait_for(compute_clock, host_clock);
  }
  if (op.lane == Lane::compute) {
    clocks.delay(compute_clock, time.device.si());
    return;
  }
  const double hidden = op.hidden * time.device.si();
  clocks.delay(compute_clock, time.device.si() - hidden);
  clocks.wait_for(clock_of(op.lane), compute_clock);
  clocks.delay(clock_of(op.lane), hidden);
  // Copy engines take no compute units.
  if (op.lane != Lane::host) clocks.delay(compute_clock, tax * hidden);
}

} // namespace

BlockTimes time_blocks(const StepProgram& program, CostModel& cost) {
  BlockTimes times;
  times.reserve(program.blocks.size());
  for (const Block& block : program.blocks) {
    std::vector<OpTime>& ops = times.emplace_back();
    ops.reserve(block.ops.size());
    for (const Op& op : block.ops) {
      ops.push_back(cost.time(op));
    }
  }
  return times;
}

std::vector<Clocks> sequence_maps(const StepProgram& program, const BlockTimes& times, double tax,
                                  const Waits& waits) {
  std::vector<Clocks> blocks(program.blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t o = 0; o < times[b].size(); ++o) {
      apply(blocks[b], program.blocks[b].ops[o], times[b][o], tax, waits);
    }
  }
  // A sequence only names those before it.
  std::vector<Clocks> maps(program.sequences.size());
  for (std::size_t s = 0; s < maps.size(); ++s) {
    bool first = true;
    for (const Item& item : program.sequences[s].items) {
      const Clocks& once = item.what == Item::What::block ? blocks[item.index] : maps[item.index];
      const Clocks all = item.count == 1 ? once : once.power(item.count);
      maps[s] = first ? all : all * maps[s];
      first = false;
    }
  }
  return maps;
}

void wait_for_all(Clocks& clocks, const Waits& waits) {
  if (waits.host) clocks.wait_for(compute_clock, host_clock);
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (waits.lane[lane]) clocks.wait_for(compute_clock, 1 + lane);
  }
}

} // namespace clustersim
