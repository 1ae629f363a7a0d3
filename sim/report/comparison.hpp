#pragma once
// `compare`: what differs between scenarios, first in what was asked, then in what came out. The
// first is what the others are measured against.

#include "pipeline.hpp"
#include "report/layout.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct NamedAnswer {
  std::string name; // as given on the command line
  Answer answer;
};

/// One input whose text is not the same everywhere; empty where a scenario has no such key.
struct InputDifference {
  std::string key;
  std::vector<std::string> texts; // one per scenario
};

enum class Better { lower, higher, neither };

/// One result of every scenario. `values` in SI units, none where a scenario has no such result.
struct Outcome {
  std::string group, name, unit; // "results" "step_time_s" "s"; group "time" or "memory": a part
  Better better = Better::neither;
  std::vector<std::optional<double>> values;
  std::vector<std::string> texts;
};

struct Comparison {
  std::vector<std::string> names;
  std::vector<InputDifference> inputs; // of the scenario: cluster, model, plan, …
  std::vector<InputDifference> facts;  // of the catalogue, such as rates of unlike chips
  std::vector<Outcome> outcomes;
};

/// Of at least one answer.
[[nodiscard]] Comparison compare(const std::vector<NamedAnswer>& answers);

/// values[i] / values[0] - 1; none where either is missing or the first is 0.
[[nodiscard]] std::optional<double> change_of(const Outcome& outcome, std::size_t i);

[[nodiscard]] std::string render_comparison_text(const Comparison& comparison, TextStyle style);
[[nodiscard]] std::string render_comparison_json(const Comparison& comparison,
                                                 std::string_view version);
[[nodiscard]] std::string render_comparison_csv(const Comparison& comparison);

} // namespace clustersim
