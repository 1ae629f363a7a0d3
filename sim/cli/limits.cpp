#include "cli/limits.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/failure.hpp"
#include "pipeline.hpp"
#include "report/layout.hpp"
#include "study/evidence.hpp"
#include "study/validate.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

double rate_from(const Limit& limit) {
  const std::string text = trim(limit.value);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0)) {
    throw misuse(fmt::format("--fail-on {}={}: not a number", limit.key, printable(limit.value)));
  }
  return value;
}

template <class Q>
Q quantity_from(const Limit& limit) {
  UnitError error;
  const auto value = parse_quantity<Q>(limit.value, error);
  if (!value) {
    const bool relative = limit.value.find('%') != std::string::npos;
    throw misuse(
        fmt::format("--fail-on {}: {}", limit.key, error.message),
        relative
            ? "a relative limit needs two runs: see clustersim compare; or give an absolute one"
            : "expected " + error.expected);
  }
  return *value;
}

const std::vector<std::string> run_keys{"step_time", "peak_memory", "mfu", "tokens_per_s"};

std::vector<std::string> validate_keys() {
  std::vector<std::string> keys;
  for (const EvidenceKind& kind : evidence_kinds()) {
    for (const MeasuredColumn& column : kind.measured) {
      if (std::find(keys.begin(), keys.end(), column.quantity) == keys.end()) {
        keys.emplace_back(column.quantity);
      }
    }
  }
  return keys;
}

} // namespace

double share_from(const Limit& limit) {
  std::string text = trim(limit.value);
  const bool percents = text.ends_with('%');
  if (percents) {
    text.pop_back();
  }
  text = trim(text.starts_with('+') ? text.substr(1) : text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!percents || error != std::errc{} || end != text.data() + text.size() || !(value >= 0)) {
    throw misuse(
        fmt::format("--fail-on {}={}: not a percentage", limit.key, printable(limit.value)),
        "expected a percentage such as 5%");
  }
  return value / 100.0;
}

Limit parse_limit(const std::string& text, const std::vector<std::string>& known) {
  const std::size_t equals = text.find('=');
  const std::string key = trim(text.substr(0, equals));
  if (equals == std::string::npos || std::find(known.begin(), known.end(), key) == known.end()) {
    const auto near = nearest_name(key, known);
    std::string all;
    for (const std::string& name : known) {
      all += (all.empty() ? "" : ", ") + name;
    }
    throw misuse(
        fmt::format("--fail-on '{}': expected KEY=LIMIT with one of {}", printable(text), all),
        near && *near != key ? fmt::format("did you mean \"{}\"?", *near) : "");
  }
  return {key, text.substr(equals + 1)};
}

void check_run_limits(const std::vector<std::string>& limits) {
  for (const std::string& text : limits) {
    const Limit limit = parse_limit(text, run_keys);
    if (limit.key == "step_time") {
      (void)quantity_from<Seconds>(limit);
    } else if (limit.key == "peak_memory") {
      (void)quantity_from<Bytes>(limit);
    } else if (limit.key == "mfu") {
      (void)share_from(limit);
    } else {
      (void)rate_from(limit);
    }
  }
}

void check_validate_limits(const std::vector<std::string>& limits) {
  for (const std::string& text : limits) {
    (void)share_from(parse_limit(text, validate_keys()));
  }
}

std::vector<std::string> exceeded(const std::vector<std::string>& limits, const Answer& answer) {
  std::vector<std::string> out;
  const Bytes used = answer.memory.peak + answer.memory.reserve; // as on the first screen
  for (const std::string& text : limits) {
    const Limit limit = parse_limit(text, run_keys);
    std::string found;
    if (limit.key == "step_time" && answer.timeline.step > quantity_from<Seconds>(limit)) {
      found = format_quantity(answer.timeline.step);
    } else if (limit.key == "peak_memory" && used > quantity_from<Bytes>(limit)) {
      found = format_binary(used);
    } else if (limit.key == "mfu" && answer.headline.mfu < share_from(limit)) {
      found = percent(answer.headline.mfu);
    } else if (limit.key == "tokens_per_s" &&
               answer.headline.tokens_per_second < rate_from(limit)) {
      found = grouped(answer.headline.tokens_per_second);
    }
    if (!found.empty()) {
      out.push_back(fmt::format("{} is {}, the limit was {}", limit.key, found,
                                printable(trim(limit.value))));
    }
  }
  return out;
}

std::vector<std::string> exceeded(const std::vector<std::string>& limits,
                                  const ValidationReport& report) {
  std::vector<std::string> out;
  for (const std::string& text : limits) {
    const Limit limit = parse_limit(text, validate_keys());
    const double most = share_from(limit) * 100.0;
    const auto summary = std::find_if(
        report.summary.begin(), report.summary.end(),
        [&](const QuantitySummary& candidate) { return candidate.quantity == limit.key; });
    if (summary == report.summary.end() || !summary->figures.mape) {
      out.push_back(fmt::format("{} has no row to score", limit.key));
    } else if (*summary->figures.mape > most) {
      out.push_back(fmt::format("{} is off by {:.1f} % on average, the limit was {}", limit.key,
                                *summary->figures.mape, printable(trim(limit.value))));
    }
  }
  return out;
}

} // namespace clustersim::cli
