#include "report/topology_words.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/layout.hpp"

#include <fmt/format.h>

namespace clustersim {

std::string plural(std::string_view noun, std::int64_t count) {
  std::string word{noun};
  if (count == 1) return word;
  if (word == "leaf") return "leaves";
  if (word == "host memory") return "host memories";
  const bool sibilant = word.ends_with('h') || word.ends_with('x');
  return word + (sibilant ? "es" : "s");
}

std::string ratio_text(double ratio) {
  const auto short_text = [](double value) {
    return fmt::format(
        "{}",
        shortest(static_cast<double>(static_cast<std::int64_t>(value * 100.0 + 0.5)) / 100.0));
  };
  return ratio >= 1.0 ? short_text(ratio) + " : 1" : "1 : " + short_text(1.0 / ratio);
}

std::string ranges_text(const std::vector<std::size_t>& numbers, std::size_t most) {
  std::string text;
  std::size_t stretches = 0, at = 0;
  while (at < numbers.size()) {
    if (stretches++ == most) {
      return text + fmt::format(", and {} more", numbers.size() - at);
    }
    const std::size_t first = at;
    while (at + 1 < numbers.size() && numbers[at + 1] == numbers[at] + 1)
      ++at;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[first]);
    if (at > first) text += (at == first + 1 ? "," : "-") + std::to_string(numbers[at]);
    ++at;
  }
  return text;
}

std::string fabric_sentence(const Partition& partition) {
  const Fabric& fabric = partition.fabric;
  std::string text = fabric.shape;
  const bool leaves =
      fabric.shape == "rail-optimized" || fabric.shape == "fat-tree" || fabric.shape == "dragonfly";
  if (!leaves) return text;
  text += fmt::format(", up to {} on a leaf, oversubscribed {} when full",
                      counted(fabric.nodes_per_leaf, "node"), ratio_text(fabric.oversubscription));
  if (fabric.leaves_per_group > 0) {
    text += fmt::format(", {} to a group, groups {}", counted(fabric.leaves_per_group, "switch"),
                        ratio_text(fabric.group_oversubscription));
  }
  return text;
}

std::string load_sentence(const TopologyAnswer& answer) {
  const LinkLoads& loads = *answer.loads;
  std::string text =
      fmt::format("{} of {} over {} ranks by {}: {}, busbw {}", name_of(loads.kind),
                  format_binary(loads.size), grouped(std::int64_t{loads.ranks}), loads.algorithm,
                  format_quantity(loads.time, 3), format_quantity(loads.bus_bandwidth, 3));
  if (loads.bound_by_latency) return text + "; bound by latency";
  if (loads.binding) text += "; bound by " + answer.graph.edge_name(*loads.binding);
  return text;
}

} // namespace clustersim
