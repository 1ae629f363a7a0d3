#include "report/comparison.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/figures.hpp"
#include "spec/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

#include <fmt/format.h>

namespace clustersim {
namespace {

/// Values of the scenario, and facts of the catalogue that it overrides.
bool is_asked(const ResolvedValue& value) {
  constexpr std::array kinds{Kind::chip,   Kind::transformer, Kind::node,
                             Kind::fabric, Kind::link,        Kind::stack,
                             Kind::recipe, Kind::optimizer,   Kind::calibration};
  const std::string_view table = std::string_view{value.key}.substr(0, value.key.find('.'));
  return value.origin == Origin::file || value.origin == Origin::command_line ||
         std::none_of(kinds.begin(), kinds.end(),
                      [&](Kind kind) { return name_of(kind) == table; });
}

/// Inputs by key, each with one text per scenario.
std::vector<InputDifference> differences(const std::vector<NamedAnswer>& answers, bool catalogue) {
  std::map<std::string, InputDifference> by_key;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const ResolvedValue& value : answers[i].answer.scenario.inputs) {
      InputDifference& entry = by_key[value.key];
      entry.key = value.key;
      entry.texts.resize(answers.size());
      entry.texts[i] = value.text;
    }
  }
  std::set<std::string> asked;
  for (const NamedAnswer& named : answers) {
    for (const ResolvedValue& value : named.answer.scenario.inputs) {
      if (is_asked(value)) {
        asked.insert(value.key);
      }
    }
  }
  std::vector<InputDifference> out;
  for (auto& [key, entry] : by_key) {
    const std::vector<std::string>& texts = entry.texts;
    const bool same = std::all_of(texts.begin(), texts.end(),
                                  [&texts](const std::string& text) { return text == texts[0]; });
    if (!same && catalogue != asked.contains(key)) {
      out.push_back(std::move(entry));
    }
  }
  return out;
}

class Outcomes {
public:
  explicit Outcomes(const std::vector<NamedAnswer>& answers) : answers_(&answers) {
    for (const NamedAnswer& named : answers) {
      figures_.push_back(figures_of(named.answer));
    }
  }

  /// `value` gives an optional quantity or number, `text` prints one.
  template <class Value, class Text>
  void add(std::string name, std::string unit, Better better, Value value, Text text) {
    Outcome outcome{"results", std::move(name), std::move(unit), better, {}, {}};
    for (std::size_t i = 0; i < answers_->size(); ++i) {
      const auto found = value((*answers_)[i].answer, figures_[i]);
      outcome.values.push_back(found ? std::optional(number(*found)) : std::nullopt);
      outcome.texts.push_back(found ? text(*found) : "");
    }
    push(std::move(outcome));
  }

  /// Parts of a whole, by name in order of first appearance; a part that is absent is 0.
  template <class Parts, class Text>
  void add_parts(const std::string& group, const std::string& unit, Parts parts, Text text) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < answers_->size(); ++i) {
      for (const auto& [name, value] : parts(figures_[i])) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          names.push_back(name);
        }
      }
    }
    for (const std::string& name : names) {
      Outcome outcome{group, name, unit, Better::lower, {}, {}};
      for (std::size_t i = 0; i < answers_->size(); ++i) {
        double value = 0.0;
        for (const auto& [part, amount] : parts(figures_[i])) {
          value += part == name ? amount : 0.0;
        }
        outcome.values.emplace_back(value);
        outcome.texts.push_back(text(value));
      }
      push(std::move(outcome));
    }
  }

  [[nodiscard]] std::vector<Outcome> take() { return std::move(outcomes_); }

private:
  static double number(double value) { return value; }
  template <class Q>
  static double number(const Q& quantity) {
    return quantity.si();
  }
  void push(Outcome outcome) {
    const bool any = std::any_of(outcome.values.begin(), outcome.values.end(),
                                 [](const auto& value) { return value.value_or(0.0) != 0.0; });
    if (any) {
      outcomes_.push_back(std::move(outcome));
    }
  }

  const std::vector<NamedAnswer>* answers_;
  std::vector<Figures> figures_;
  std::vector<Outcome> outcomes_;
};

using Parts = std::vector<std::pair<std::string, double>>;

Parts time_parts(const Figures& figures) {
  Parts out;
  for (const BreakdownItem& item : figures.time) {
    out.emplace_back(item.name, item.time.si());
  }
  return out;
}

Parts memory_parts(const Figures& figures) {
  Parts out;
  for (const MemoryTerm& term : figures.memory) {
    out.emplace_back(term.name, term.bytes.si());
  }
  return out;
}

/// Every value is optional, so that all go one way.
template <class T>
std::optional<T> always(const T& value) {
  return value;
}

void add_speed(Outcomes& out) {
  out.add(
      "step_time_s", "s", Better::lower,
      [](const Answer& a, const Figures&) { return always(a.timeline.step); },
      [](Seconds value) { return format_quantity(value); });
  const auto rate = [](double value) { return grouped(value); };
  out.add(
      "tokens_per_s", "1/s", Better::higher,
      [](const Answer& a, const Figures&) { return always(a.headline.tokens_per_second); }, rate);
  out.add(
      "tokens_per_s_per_chip", "1/s", Better::higher,
      [](const Answer& a, const Figures&) { return always(a.headline.tokens_per_second_per_chip); },
      rate);
  const auto share = [](double value) { return percent(value); };
  out.add(
      "mfu", "", Better::higher,
      [](const Answer& a, const Figures&) { return always(a.headline.mfu); }, share);
  out.add(
      "hfu", "", Better::neither,
      [](const Answer& a, const Figures&) { return always(a.headline.hfu); }, share);
}

void add_memory_and_cost(Outcomes& out) {
  const auto bytes = [](Bytes value) { return format_binary(value); };
  out.add(
      "used_bytes", "B", Better::lower,
      [](const Answer&, const Figures& f) { return always(f.used); }, bytes);
  out.add(
      "margin_bytes", "B", Better::higher,
      [](const Answer& a, const Figures&) { return always(a.memory.margin()); }, bytes);
  out.add(
      "energy_per_token_j", "J", Better::lower,
      [](const Answer&, const Figures& f) { return always(f.energy_per_token); },
      [](Joules value) { return format_quantity(value); });
  const auto dollars = [](Dollars value) { return format_quantity(value); };
  out.add(
      "electricity_per_million_tokens_usd", "USD", Better::lower,
      [](const Answer&, const Figures& f) { return f.electricity_per_million_tokens; }, dollars);
  out.add(
      "rental_per_million_tokens_usd", "USD", Better::lower,
      [](const Answer&, const Figures& f) { return f.rental_per_million_tokens; }, dollars);
}

} // namespace

Comparison compare(const std::vector<NamedAnswer>& answers) {
  Comparison out;
  for (const NamedAnswer& named : answers) {
    out.names.push_back(named.name);
  }
  out.inputs = differences(answers, false);
  out.facts = differences(answers, true);
  Outcomes outcomes(answers);
  add_speed(outcomes);
  add_memory_and_cost(outcomes);
  outcomes.add_parts("time", "s", time_parts,
                     [](double value) { return format_quantity(Seconds{value}); });
  outcomes.add_parts("memory", "B", memory_parts,
                     [](double value) { return format_binary(Bytes{value}); });
  out.outcomes = outcomes.take();
  return out;
}

std::optional<double> change_of(const Outcome& outcome, std::size_t i) {
  const auto& first = outcome.values.front();
  const auto& other = outcome.values.at(i);
  if (!first || !other || *first == 0.0) {
    return std::nullopt;
  }
  return *other / *first - 1.0;
}

} // namespace clustersim
