#include "base/text.hpp"
#include "study/sweep.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace clustersim {
namespace {

/// Parts between commas that stand outside quotes and brackets.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

/// Lengths of sequences alone read "2k" as 2048.
Suffixes suffixes_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? key : key.substr(dot + 1);
  return last == "seq" || last.ends_with("sequence") ? Suffixes::binary : Suffixes::none;
}

template <class Q>
std::optional<std::vector<std::string>> quantities(std::string_view text, RangeError& error) {
  const auto values = parse_quantity_range<Q>(text, error, most_sweep_points);
  if (!values) return std::nullopt;
  constexpr int digits = 15;
  std::vector<std::string> out;
  for (const Q value : *values)
    out.push_back(format_quantity(value, digits));
  return out;
}

std::optional<std::vector<std::string>> span_of(std::string_view key, std::string_view text,
                                                RangeError& error) {
  if (const auto counts = parse_count_range(text, suffixes_of(key), error, most_sweep_points)) {
    std::vector<std::string> out;
    for (const std::int64_t count : *counts)
      out.push_back(std::to_string(count));
    return out;
  }
  RangeError other;
  if (auto watts = quantities<Watts>(text, other)) return watts;
  return quantities<Bytes>(text, other);
}

std::optional<std::vector<std::string>> values_of(std::string_view key, std::string_view text,
                                                  RangeError& error) {
  std::vector<std::string> out;
  for (const std::string& part : parts_of(text)) {
    const std::string value = trim(part);
    if (value.empty()) {
      error = {"a value is missing", "such as tensor=1,2,4 or seq=2k..128k:x2"};
      return std::nullopt;
    }
    std::vector<std::string> found{value};
    if (value.front() != '"' && value.find("..") != std::string::npos) {
      auto span = span_of(key, value, error);
      if (!span) return std::nullopt;
      found = std::move(*span);
    }
    out.insert(out.end(), found.begin(), found.end());
    if (out.size() > most_sweep_points) {
      error = {fmt::format("more than {} values", most_sweep_points), "a larger step"};
      return std::nullopt;
    }
  }
  return out;
}

} // namespace

std::optional<SweepAxis> parse_sweep_axis(std::string_view text, RangeError& error) {
  const std::size_t equals = text.find('=');
  SweepAxis axis{trim(text.substr(0, equals)), {}};
  if (equals == std::string_view::npos || axis.key.empty()) {
    error = {"a key and its values are missing", "such as tensor=1,2,4 or seq=2k..128k:x2"};
    return std::nullopt;
  }
  auto values = values_of(axis.key, text.substr(equals + 1), error);
  if (!values) return std::nullopt;
  axis.values = std::move(*values);
  std::vector<std::string> sorted = axis.values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    error = {fmt::format("'{}' stands twice", printable(*twice)), "each value once"};
    return std::nullopt;
  }
  return axis;
}

std::optional<Sweep> plan_sweep(const std::vector<SweepAxis>& axes, RangeError& error) {
  Sweep sweep{{}, axes, {}, 0, false};
  std::size_t count = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[j].key != axes[i].key) continue;
      error = {fmt::format("'{}' is varied twice", printable(axes[i].key)), "all values in one"};
      return std::nullopt;
    }
    count *= axes[i].values.size(); // below 10^8: both factors are bounded
    if (count > most_sweep_points) {
      error = {fmt::format("more than {} points", most_sweep_points), "fewer values"};
      return std::nullopt;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    SweepPoint point;
    std::size_t rest = i;
    for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].values.size())
      point.values.push_back(axes[a].values[rest % axes[a].values.size()]);
    std::reverse(point.values.begin(), point.values.end());
    sweep.points.push_back(std::move(point));
  }
  return sweep;
}

} // namespace clustersim
