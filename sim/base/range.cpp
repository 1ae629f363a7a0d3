#include "base/range.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace clustersim {
namespace {

// Doubles hold every whole number up to here.
constexpr double most_count = 9007199254740992.0;

/// How one kind of value is read, and what a range of it means without a step.
struct ValueKind {
  std::string_view noun, example;
  std::optional<double> (*read)(std::string_view text, RangeError& error);
  bool doubles; // else by 1
};

std::optional<double> read_count(std::string_view text, RangeError& error) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || text.front() == '_' || text.back() == '_' || code != std::errc{} ||
      stop != end || static_cast<double>(value) > most_count) {
    error.message = fmt::format("'{}' is no whole number", printable(text));
    return std::nullopt;
  }
  return static_cast<double>(value);
}

std::optional<double> read_size(std::string_view text, RangeError& error) {
  UnitError unit;
  const auto size = parse_quantity<Bytes>(text, unit);
  if (!size || !(size->si() > 0.0)) {
    error.message = size ? fmt::format("'{}' is no size above 0", printable(text)) : unit.message;
    return std::nullopt;
  }
  return size->si();
}

/// One step of a range: value · factor + addend.
struct Step {
  double factor = 1.0, addend = 0.0;
  [[nodiscard]] bool grows(double from) const { return from * factor + addend > from; }
};

std::optional<Step> read_step(std::string_view text, const ValueKind& kind, RangeError& error) {
  if (text.empty()) return kind.doubles ? Step{2.0, 0.0} : Step{1.0, 1.0};
  if (text.front() == '+') {
    const auto addend = kind.read(text.substr(1), error);
    return addend ? std::optional(Step{1.0, *addend}) : std::nullopt;
  }
  double factor = 0.0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data() + 1, end, factor);
  if (text.front() != 'x' || code != std::errc{} || stop != end || !std::isfinite(factor)) {
    error.message = fmt::format("':{}' is no step", printable(text));
    return std::nullopt;
  }
  return Step{factor, 0.0};
}

bool add_range(std::string_view text, const ValueKind& kind, std::vector<double>& values,
               RangeError& error) {
  const std::size_t dots = text.find("..");
  const std::string_view rest =
      dots == std::string_view::npos ? std::string_view{} : text.substr(dots + 2);
  const std::size_t colon = rest.find(':');
  const bool stepped = colon != std::string_view::npos;
  const auto first = kind.read(trim(text.substr(0, dots)), error);
  if (!first || dots == std::string_view::npos) {
    if (first) values.push_back(*first);
    return first.has_value();
  }
  const auto last = kind.read(trim(rest.substr(0, colon)), error);
  const auto step =
      last ? read_step(stepped ? trim(rest.substr(colon + 1)) : "", kind, error) : std::nullopt;
  if (!step) return false;
  if (*last < *first || !step->grows(*first) || (stepped && trim(rest.substr(colon + 1)).empty())) {
    error.message = fmt::format("'{}' does not grow", printable(text));
    return false;
  }
  // A step that is no sum of binary fractions must not lose the last value to rounding.
  const double limit = *last * (1.0 + 1e-12);
  for (double value = *first; value <= limit; value = value * step->factor + step->addend) {
    if (values.size() >= most_range_values) {
      error.message = fmt::format("more than {} values", most_range_values);
      return false;
    }
    const double kept = kind.doubles ? value : std::floor(value);
    if (value == *first || kept != values.back()) values.push_back(kept);
  }
  return true;
}

std::optional<std::vector<double>> parse(std::string_view text, const ValueKind& kind,
                                         RangeError& error) {
  std::vector<double> values;
  error = {};
  for (const std::string& part : split(text, ',')) {
    if (trim(part).empty()) error.message = fmt::format("a {} is missing", kind.noun);
    if (trim(part).empty() || !add_range(trim(part), kind, values, error)) {
      error.expected = kind.example;
      return std::nullopt;
    }
  }
  return values;
}

template <class Value>
std::optional<std::vector<Value>> as(const std::optional<std::vector<double>>& values) {
  if (!values) return std::nullopt;
  std::vector<Value> out;
  out.reserve(values->size());
  for (const double value : *values)
    out.push_back(static_cast<Value>(value));
  return out;
}

} // namespace

std::optional<std::vector<std::int64_t>> parse_counts(std::string_view text, RangeError& error) {
  constexpr ValueKind counts{"count", "counts such as 1,2,8 or 1..8 or 1..64:x2 or 8..64:+8",
                             read_count, false};
  return as<std::int64_t>(parse(text, counts, error));
}

std::optional<std::vector<Bytes>> parse_sizes(std::string_view text, RangeError& error) {
  constexpr ValueKind sizes{"size", "sizes such as 8B..8GiB or 1MiB,64MiB or 1GB..4GB:+1GB",
                            read_size, true};
  return as<Bytes>(parse(text, sizes, error));
}

} // namespace clustersim
