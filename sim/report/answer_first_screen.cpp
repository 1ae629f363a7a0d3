#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t screen_lines = 24;
constexpr std::size_t label_width = 12;
constexpr std::size_t value_width = 17;

std::string join(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : std::string{between}) + part;
  }
  return out;
}

/// The fullest of `variants` that fits on one line.
std::string fitting(const std::vector<std::string>& variants, TextStyle style) {
  for (const std::string& variant : variants) {
    if (columns_of(variant) <= page_width) {
      return variant;
    }
  }
  return elide(variants.back(), page_width, style);
}

/// Of all partitions: "4 DGX H100", "2 x Server + 1 x DGX H100".
std::string nodes_of(const Scenario& scenario) {
  std::vector<std::string> parts;
  for (const Partition& part : scenario.cluster.partitions)
    parts.push_back(fmt::format("{} {}", part.nodes, part.node.name));
  return join(parts, " + ");
}

std::string title_line(const Scenario& scenario, TextStyle style) {
  std::string title = printable(scenario.title);
  if (title.empty()) {
    title = printable(fmt::format("{} on {}", scenario.model.name, nodes_of(scenario)));
  }
  std::string stack = printable(scenario.training.stack.name);
  if (columns_of(title) + columns_of(stack) + 3 > page_width) {
    stack = printable(scenario.training.stack.id);
  }
  const std::size_t room = page_width - std::min(page_width / 2, columns_of(stack) + 2);
  title = elide(title, room, style);
  stack = elide(stack, page_width - columns_of(title) - 2, style);
  const std::string gap(page_width - columns_of(title) - columns_of(stack), ' ');
  return paint(Ink::bold, title, style) + gap + paint(Ink::dim, stack, style);
}

std::string model_line(const Answer& answer, TextStyle style) {
  const Training& training = answer.scenario.training;
  const double billions = static_cast<double>(answer.parameters.total) / 1e9;
  const std::string size = billions >= 1.0 ? fmt::format("{:.4g} billion", billions)
                                           : fmt::format("{:.4g} million", billions * 1e3);
  std::vector<std::string> parts{printable(answer.scenario.model.name), size + " parameters",
                                 fmt::format("{} {} {} tokens a step",
                                             grouped(training.global_batch), times_sign(style),
                                             grouped(training.sequence)),
                                 std::string{name_of(training.precision)}};
  return fitting({join(parts, separator(style))}, style);
}

std::string partitions_line(const Answer& answer, TextStyle style) {
  std::vector<std::string> nodes, chips;
  for (const Partition& part : answer.scenario.cluster.partitions) {
    nodes.push_back(
        fmt::format("{} {} {}", part.nodes, times_sign(style), printable(part.node.name)));
    chips.push_back(
        fmt::format("{} {} {}", part.chips(), times_sign(style), printable(part.node.chip.name)));
  }
  const Between& between = *answer.scenario.cluster.between;
  const std::string all = join(nodes, " + ");
  return fitting({join({all, printable(between.fabric.name)}, separator(style)),
                  join({all, printable(between.fabric.id)}, separator(style)), all,
                  join(chips, " + ")},
                 style);
}

std::string cluster_line(const Answer& answer, const Figures& figures, TextStyle style) {
  const Partition& part = answer.scenario.cluster.partitions.front();
  if (!answer.partitions.empty()) return partitions_line(answer, style);
  const Chip& chip = part.node.chip;
  const std::string nodes = fmt::format("{} {} {}", grouped(std::int64_t{part.nodes}),
                                        times_sign(style), printable(part.node.name));
  const std::string chips =
      fmt::format("{} {} {}", grouped(figures.chips), times_sign(style), printable(chip.name));
  if (part.nodes == 1) {
    return fitting({join({nodes, chips}, separator(style)), chips}, style);
  }
  return fitting({join({nodes, chips, printable(part.fabric.name)}, separator(style)),
                  join({nodes, chips, printable(part.fabric.id)}, separator(style))},
                 style);
}

std::string schedule_name(const Plan& plan) {
  constexpr std::array names{"GPipe", "1F1B", "ZB-H1", "DualPipe"};
  const char* name = names.at(static_cast<std::size_t>(plan.schedule));
  return plan.virtual_stages > 1 ? fmt::format("interleaved {} {}", name, plan.virtual_stages)
                                 : name;
}

std::string recompute_name(const Plan& plan) {
  constexpr std::array levels{"no", "selective", "per-operator", "full"};
  const std::string name =
      fmt::format("{} recompute", levels.at(static_cast<std::size_t>(plan.recompute)));
  const bool in_part =
      plan.recompute == Recompute::full && plan.recompute_method == RecomputeMethod::block;
  return in_part ? fmt::format("{} of {} layers", name, plan.recompute_layers) : name;
}

std::string plan_line(const Answer& answer, const Figures& figures, TextStyle style) {
  const Plan& plan = answer.scenario.plan;
  std::vector<std::string> axes;
  for (const auto& [name, size] : {std::pair{"TP", plan.tensor},
                                   {"CP", plan.context},
                                   {"EP", plan.expert},
                                   {"PP", plan.pipeline},
                                   {"DP", plan.data}}) {
    if (size > 1) {
      axes.push_back(fmt::format("{} {}", name, size));
    }
  }
  const std::string split =
      axes.empty() ? "one chip" : join(axes, fmt::format(" {} ", times_sign(style)));
  std::string counts = grouped(figures.micro_batches);
  for (const PartitionAnswer& part : answer.partitions) {
    const bool first = &part == &answer.partitions.front();
    counts = (first ? "" : counts + " and ") + grouped(part.share.micro_batches);
  }
  const std::string batches =
      fmt::format("micro-batch {} {} {}", plan.micro_batch, times_sign(style), counts);
  const auto line = [&](std::string_view sequence_parallel) {
    std::vector<std::string> parts{split};
    if (plan.pipeline > 1) {
      parts.push_back(schedule_name(plan));
    }
    if (plan.sequence_parallel) {
      parts.emplace_back(sequence_parallel);
    }
    if (plan.zero > 0) {
      parts.push_back(fmt::format("ZeRO-{}", plan.zero));
    }
    parts.push_back(batches);
    parts.push_back(recompute_name(plan));
    return join(parts, separator(style));
  };
  return fitting({line("sequence parallel"), line("SP")}, style);
}

std::string headline(std::string_view label, std::string_view value, std::string_view rest,
                     TextStyle style, Ink ink = Ink::bold) {
  return "  " + paint(Ink::dim, pad_right(label, label_width), style) +
         paint(ink, pad_right(value, value_width), style) + std::string{rest};
}

std::string memory_line(const Answer& answer, const Figures& figures, TextStyle style) {
  const MemoryFootprint& memory = answer.memory;
  const bool fits = memory.fits();
  const Bytes gap = fits ? memory.margin() : -memory.margin();
  const std::string rest =
      fmt::format("of {} usable, {} {} ({})", format_binary(memory.usable), format_binary(gap),
                  fits ? "to spare" : "too much", percent(std::abs(figures.margin_share)));
  return headline("Memory", format_binary(figures.used), rest, style, fits ? Ink::bold : Ink::bad);
}

void add_headlines(std::vector<std::string>& lines, const Answer& answer, const Figures& figures,
                   TextStyle style) {
  const Headline& head = answer.headline;
  lines.push_back(
      headline("Step time",
               fmt::format("{} {} {:.0f} %", format_quantity(answer.timeline.step),
                           plus_minus(style), 100.0 * half_width_of(answer)),
               fmt::format("{} tokens/s, {} per chip{}", grouped(head.tokens_per_second),
                           grouped(head.tokens_per_second_per_chip),
                           answer.memory.fits() ? "" : ", if it fitted"),
               style));
  lines.push_back(headline("MFU", percent(head.mfu),
                           fmt::format("HFU {}, of {}", percent(head.hfu), head.peak_basis),
                           style));
  lines.push_back(memory_line(answer, figures, style));
  if (answer.balance) {
    const std::string cost =
        fmt::format("rounding costs {}, equal shares {}", percent(balance_cost(*answer.balance)),
                    signed_percent(answer.balance->equal / answer.balance->step - 1.0));
    lines.push_back(
        headline("Shares", elide(shares_text(answer), value_width - 1, style), cost, style));
  }
  lines.emplace_back();
  for (const std::string& line : wrap(printable(answer.explanation.verdict), page_width - 4)) {
    lines.push_back("  " + line);
  }
}

} // namespace

std::string first_screen(const Answer& answer, const Figures& figures, TextStyle style) {
  std::vector<std::string> lines{title_line(answer.scenario, style), model_line(answer, style),
                                 cluster_line(answer, figures, style),
                                 plan_line(answer, figures, style), ""};
  add_headlines(lines, answer, figures, style);
  lines.emplace_back();
  const auto advice =
      answer.memory.fits() ? what_if_lines(answer, style) : remedy_lines(answer, style);
  const std::size_t rows = screen_lines - std::min(screen_lines, lines.size() + advice.size() + 2);
  for (std::string& line : breakdown_lines(answer, figures, rows, style)) {
    lines.push_back(std::move(line));
  }
  lines.emplace_back();
  lines.insert(lines.end(), advice.begin(), advice.end());
  return join(lines, "\n") + "\n";
}

} // namespace clustersim
