#include "report/serving.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/answer_sections.hpp"
#include "report/operator_rooflines.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim {
namespace {

std::string fact(std::string_view name, std::string_view value, std::string_view rest) {
  return fmt::format("  {} {} {}\n", pad_right(name, 14), pad_right(value, 16), rest);
}

std::string rate(double tokens_per_second) {
  return grouped(tokens_per_second) + " tokens/s";
}

std::string plan_text(const Scenario& scenario, TextStyle style) {
  const Plan& plan = scenario.plan;
  std::string out = fmt::format("TP {}", plan.tensor);
  const auto add = [&](const char* name, int value) {
    if (value > 1) out += fmt::format(" {} {} {}", times_sign(style), name, value);
  };
  add("PP", plan.pipeline);
  add("copies", plan.data);
  add("EP", plan.expert);
  return out;
}

std::string formats_text(const Inference& serving) {
  std::string out{name_of(serving.precision)};
  if (serving.weights != serving.precision)
    out += fmt::format(", {} weights", name_of(serving.weights));
  return out + fmt::format(", {} cache", name_of(serving.kv_cache));
}

std::string head_lines(const ServingAnswer& answer, TextStyle style) {
  const Scenario& scenario = answer.scenario;
  const Inference& serving = scenario.inference;
  const Partition& part = scenario.cluster.partitions.front();
  std::string title = printable(scenario.title);
  if (title.empty())
    title = printable(fmt::format("{} on {}", scenario.model.name, part.node.name));
  const std::string dot{separator(style)};
  std::string out = paint(Ink::bold, elide(title, page_width, style), style) + "\n";
  out += elide(fmt::format("{}{}{:.4g} billion parameters{}{}", printable(scenario.model.name), dot,
                           static_cast<double>(answer.parameters.total) / 1e9, dot,
                           printable(scenario.training.stack.name)),
               page_width, style) +
         "\n";
  out += elide(fmt::format("{} {} {}{}{}{}{}", scenario.cluster.chips(), times_sign(style),
                           printable(scenario.chip().name), dot, plan_text(scenario, style), dot,
                           formats_text(serving)),
               page_width, style) +
         "\n";
  return out + fmt::format("batch {}{}prompt {}{}output {}\n", grouped(serving.batch), dot,
                           grouped(serving.prompt), dot, grouped(serving.output));
}

std::string first_facts(const ServingAnswer& answer) {
  const ServingTimes& times = answer.times;
  const Inference& serving = answer.scenario.inference;
  std::string out = "\n";
  out += fact("First token", format_quantity(times.first_token, 4),
              fmt::format("one prompt alone; {} for {} at once",
                          format_quantity(times.first_of_batch, 4), grouped(serving.batch)));
  out += fact("Each token", format_quantity(times.per_token, 4),
              fmt::format("{} a user; {} to {}", rate(answer.user_tokens_per_second),
                          format_quantity(times.at_start, 4), format_quantity(times.at_end, 4)));
  out += fact("Throughput", rate(answer.decode_tokens_per_second),
              fmt::format("while decoding; {} with prefill", rate(answer.tokens_per_second)));
  out += fact("Prefill", rate(answer.prompt_tokens_per_second), "of prompts");
  const MemoryFootprint& memory = answer.memory;
  const Bytes used = memory.peak + memory.reserve;
  out += fact("Memory", format_binary(used),
              memory.fits()
                  ? fmt::format("of {} usable, {} to spare", format_binary(memory.usable),
                                format_binary(memory.margin()))
                  : fmt::format("does not fit in {} usable: {} too much",
                                format_binary(memory.usable), format_binary(-memory.margin())));
  out += fact("Largest batch", grouped(answer.largest_batch),
              fmt::format("sequences a copy, each {} of cache a chip",
                          format_binary(answer.cache_per_sequence)));
  out += fact("Energy", format_quantity(answer.per_output_token, 4),
              "an output token, prefill included");
  return out;
}

std::string bound_lines(const ServingAnswer& answer) {
  std::string out = "\n";
  out += hanging("  Prefill  ", printable(answer.prefill.explanation.verdict));
  out += hanging("  Decode   ", printable(answer.decode.explanation.verdict));
  return out + hanging("  Floor    ",
                       fmt::format("a decode step reads at least {} a chip: {} at the data sheet's "
                                   "bandwidth, {} of the step.",
                                   format_binary(answer.decode_traffic),
                                   format_quantity(answer.decode_floor, 4),
                                   percent(bandwidth_share(answer))));
}

std::string breakdown_section(const ServingAnswer& answer, TextStyle style) {
  std::vector<std::vector<std::string>> rows;
  const auto& prefill = answer.prefill.timeline;
  const auto& decode = answer.decode.timeline;
  const auto of = [](const Timeline& timeline, const std::string& name) {
    for (const BreakdownItem& item : timeline.breakdown) {
      if (item.name == name) return item.time;
    }
    return Seconds{};
  };
  std::vector<std::string> names;
  for (const Timeline* timeline : {&prefill, &decode}) {
    for (const BreakdownItem& item : timeline->breakdown) {
      if (std::ranges::find(names, item.name) == names.end()) names.push_back(item.name);
    }
  }
  for (const std::string& name : names) {
    const Seconds a = of(prefill, name), b = of(decode, name);
    if (a <= Seconds{} && b <= Seconds{}) continue;
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    rows.push_back({words, format_quantity(a, 4), percent(a / prefill.step), format_quantity(b, 4),
                    percent(b / decode.step)});
  }
  return heading("Where the time goes", style) + table({{"cause"},
                                                        {"prefill", Align::right},
                                                        {"share", Align::right},
                                                        {"decode step", Align::right},
                                                        {"share", Align::right}},
                                                       rows, style);
}

std::string memory_section(const ServingAnswer& answer, TextStyle style) {
  const Bytes used = answer.memory.peak + answer.memory.reserve;
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const MemoryTerm& term) {
    rows.push_back({term.name, format_binary(term.bytes), percent(term.bytes / used),
                    printable(term.sharded_by)});
  };
  for (const MemoryTerm& term : answer.memory.terms)
    add(term);
  add({"framework", answer.memory.reserve, ""});
  const std::string cache = fmt::format("One token takes {} of cache in the whole model.",
                                        format_binary(answer.cache_per_token));
  return heading("Where the memory goes", style) +
         table({{"term"}, {"size", Align::right}, {"share", Align::right}, {"divided by"}}, rows,
               style) +
         hanging("  ", cache);
}

std::string notes(const ServingAnswer& answer, TextStyle style) {
  const auto list = [&](const std::vector<std::string>& all) {
    std::string out;
    for (const std::string& one : all)
      out += hanging(style.unicode ? "  • " : "  - ", printable(one));
    return out;
  };
  std::string out;
  if (!answer.scenario.warnings.empty()) {
    out += heading("Warnings", style) + list(answer.scenario.warnings);
  }
  return out + heading("Assumptions", style) + list(serving_assumptions(answer));
}

} // namespace

double bandwidth_share(const ServingAnswer& answer) {
  return answer.decode_floor / answer.decode.timeline.step;
}

std::vector<std::string> serving_assumptions(const ServingAnswer& answer) {
  std::vector<std::string> out = answer.scenario.assumptions;
  out.emplace_back("All sequences of a batch start and end together; no request waits in a queue, "
                   "and no prefill runs beside a decode step.");
  out.emplace_back("Every output token is a step of its own: no speculation.");
  out.emplace_back("The cache holds what sequences need, without the waste of its pages.");
  const Inference& serving = answer.scenario.inference;
  if (serving.weights != serving.precision) {
    out.emplace_back("Weights are widened inside the products, at no cost to the matrix units.");
  }
  if (answer.scenario.model.moe.experts > 0) {
    out.emplace_back("Tokens choose experts independently and evenly; experts that no token of a "
                     "step chose are not read.");
  }
  return out;
}

std::string render_serving_text(const ServingAnswer& answer, TextStyle style) {
  std::string out = head_lines(answer, style) + first_facts(answer) + bound_lines(answer);
  if (style.detail == Detail::brief) return out;
  out += breakdown_section(answer, style) + memory_section(answer, style);
  out += operator_roofline_section("Decode step: operators on their roofs", answer.scenario.chip(),
                                   answer.decode.timeline, style);
  if (style.detail == Detail::full) {
    out += operator_roofline_section("Prefill: operators on their roofs", answer.scenario.chip(),
                                     answer.prefill.timeline, style);
    out += heading("Prefill", style) + sensitivity_section(answer.prefill.explanation, style);
  }
  out += heading("Decode", style) + sensitivity_section(answer.decode.explanation, style);
  return out + notes(answer, style) + inputs_section(answer.scenario, style);
}

} // namespace clustersim
