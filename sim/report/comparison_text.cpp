#include "report/comparison.hpp"

#include "base/text.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

std::string heading(std::string_view text, TextStyle style) {
  return "\n" + paint(Ink::bold, text, style) + "\n";
}

/// "step_time_s" → "step time": the unit stands in the cells.
std::string readable(const Outcome& outcome) {
  std::string name = outcome.name;
  for (const std::string_view unit : {"_s", "_bytes", "_j", "_usd"}) {
    if (!outcome.unit.empty() && outcome.unit != "1/s" && name.ends_with(unit)) {
      name.resize(name.size() - unit.size());
      break;
    }
  }
  return spaced(name);
}

std::string change_text(const Outcome& outcome, std::size_t i, TextStyle style) {
  const auto change = change_of(outcome, i);
  constexpr double least_shown = 0.0005;
  if (!change || std::fabs(*change) < least_shown) {
    return "";
  }
  const std::string text = signed_percent(*change);
  if (outcome.better == Better::neither) {
    return text;
  }
  const bool good = (*change < 0.0) == (outcome.better == Better::lower);
  return paint(good ? Ink::good : Ink::bad, text, style);
}

/// The names above their columns are letters; what they stand for is said once.
std::string letter(std::size_t i) {
  return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("#{}", i + 1);
}

std::vector<Column> columns(std::string_view first, std::size_t count, bool with_changes) {
  std::vector<Column> out{{std::string{first}, Align::left}};
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({letter(i), Align::right});
    if (with_changes && i > 0) {
      out.push_back({"", Align::right});
    }
  }
  return out;
}

std::string inputs_text(const std::vector<InputDifference>& inputs, std::size_t count,
                        TextStyle style) {
  Rows rows;
  for (const InputDifference& input : inputs) {
    std::vector<std::string> row{printable(input.key)};
    for (const std::string& text : input.texts) {
      row.push_back(text.empty() ? "-" : printable(text));
    }
    rows.push_back(std::move(row));
  }
  return table(columns("key", count, false), rows, style);
}

std::string outcomes_text(const Comparison& comparison, std::string_view group, TextStyle style) {
  Rows rows;
  for (const Outcome& outcome : comparison.outcomes) {
    if (outcome.group != group) {
      continue;
    }
    std::vector<std::string> row{readable(outcome)};
    for (std::size_t i = 0; i < outcome.texts.size(); ++i) {
      row.push_back(outcome.texts[i].empty() ? "-" : outcome.texts[i]);
      if (i > 0) {
        row.push_back(change_text(outcome, i, style));
      }
    }
    rows.push_back(std::move(row));
  }
  return table(columns("", comparison.names.size(), true), rows, style);
}

Json inputs_as_json(const std::vector<InputDifference>& inputs) {
  Json out = Json::array();
  for (const InputDifference& input : inputs) {
    out.push_back({{"key", input.key}, {"values", input.texts}});
  }
  return out;
}

} // namespace

std::string render_comparison_text(const Comparison& comparison, TextStyle style) {
  const std::size_t count = comparison.names.size();
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out +=
        fmt::format("{}  {}\n", paint(Ink::bold, letter(i), style), printable(comparison.names[i]));
  }
  out += heading("What differs in the inputs", style);
  out += comparison.inputs.empty() ? "  nothing\n" : inputs_text(comparison.inputs, count, style);
  if (!comparison.facts.empty() && style.detail == Detail::full) {
    out += heading("And in the catalogue's facts behind them", style);
    out += inputs_text(comparison.facts, count, style);
  } else if (!comparison.facts.empty()) {
    out += fmt::format("  and {} of the catalogue behind them (-v lists them)\n",
                       counted(static_cast<std::int64_t>(comparison.facts.size()), "fact"));
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> groups{
      {{"results", "What comes out"},
       {"time", "Where the time goes"},
       {"memory", "Where the memory goes"}}};
  for (const auto& [group, title] : groups) {
    out += heading(title, style) + outcomes_text(comparison, group, style);
  }
  return out;
}

std::string render_comparison_json(const Comparison& comparison, std::string_view version) {
  Json out{{"schema", "clustersim.compare/1"}, {"version", version}};
  out["scenarios"] = comparison.names;
  out["inputs"] = inputs_as_json(comparison.inputs);
  out["facts"] = inputs_as_json(comparison.facts);
  out["outcomes"] = Json::array();
  for (const Outcome& outcome : comparison.outcomes) {
    Json row{{"group", outcome.group}, {"name", outcome.name}, {"unit", outcome.unit}};
    row["values"] = Json::array();
    row["change"] = Json::array();
    for (std::size_t i = 0; i < outcome.values.size(); ++i) {
      row["values"].push_back(number_or_null<Json>(outcome.values[i]));
      row["change"].push_back(number_or_null<Json>(change_of(outcome, i)));
    }
    out["outcomes"].push_back(std::move(row));
  }
  return to_text(out);
}

std::string render_comparison_csv(const Comparison& comparison) {
  std::vector<std::string> head{"group", "name", "unit"};
  head.insert(head.end(), comparison.names.begin(), comparison.names.end());
  std::string out = csv_line(head);
  for (const Outcome& outcome : comparison.outcomes) {
    std::vector<std::string> row{outcome.group, outcome.name, outcome.unit};
    for (const auto& value : outcome.values) {
      row.push_back(value ? shortest(*value) : "");
    }
    out += csv_line(row);
  }
  return out;
}

} // namespace clustersim
