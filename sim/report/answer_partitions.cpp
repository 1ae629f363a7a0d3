// Unlike partitions of one job: who does how much of the batch, and what whole micro-batches cost.

#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim {
namespace {

std::vector<std::string> row_of(const PartitionAnswer& part, const Answer& answer,
                                TextStyle style) {
  const Partition& own = part.scenario.partition();
  const double memory = (part.memory.peak + part.memory.reserve) / part.memory.usable;
  Seconds waits;
  for (const BreakdownItem& item : part.timeline.breakdown) {
    if (item.name == "other_partitions") waits = item.time;
  }
  return {fmt::format("{} {} {}", own.nodes, times_sign(style), printable(own.node.name)),
          percent(share_of(part, answer)),
          grouped(part.share.replicas),
          grouped(part.share.micro_batches),
          format_quantity(part.share.each),
          format_quantity(waits),
          percent(memory)};
}

} // namespace

double balance_cost(const Balance& balance) {
  return balance.step / balance.ideal - 1.0;
}

std::string shares_text(const Answer& answer) {
  std::vector<std::string> shares;
  for (const PartitionAnswer& part : answer.partitions)
    shares.push_back(fmt::format("{:.0f}", 100.0 * share_of(part, answer)));
  return fmt::format("{} %", fmt::join(shares, " + "));
}

std::string partitions_section(const Answer& answer, TextStyle style) {
  if (!answer.balance) return {};
  std::vector<std::vector<std::string>> rows;
  for (const PartitionAnswer& part : answer.partitions)
    rows.push_back(row_of(part, answer, style));
  std::string out = "\n" + paint(Ink::bold, "Partitions", style) + "\n";
  out += table({{"nodes"},
                {"batch", Align::right},
                {"replicas", Align::right},
                {"each", Align::right},
                {"one more", Align::right},
                {"waits", Align::right},
                {"memory", Align::right}},
               rows, style);
  const Balance& balance = *answer.balance;
  out += hanging("  ", fmt::format("Each replica does so many micro-batches of {}; one more would "
                                   "take so long. Whole micro-batches cost {} against shares that "
                                   "could be cut anywhere ({}). Equal shares for all replicas "
                                   "would take {}, {}.",
                                   answer.scenario.plan.micro_batch, percent(balance_cost(balance)),
                                   format_quantity(balance.ideal), format_quantity(balance.equal),
                                   signed_percent(balance.equal / balance.step - 1.0)));
  return out;
}

} // namespace clustersim
