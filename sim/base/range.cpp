#include "base/range.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace clustersim {
namespace {

constexpr double largest_count = 1e9;
constexpr std::size_t most_shown = 40;
constexpr std::string_view example = "a range such as 1,2,4 or 128..8192:x2 or 64..1024:+64";

std::string shown(std::string_view text) {
  return printable(text.substr(0, most_shown));
}

void complain(RangeError& error, std::string message, std::string_view expected = example) {
  error = {std::move(message), std::string(expected)};
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = code == std::errc{} && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

/// How values of one kind are read and stepped.
struct Counts {
  Suffixes suffixes = Suffixes::none;

  [[nodiscard]] std::optional<double> value(std::string_view text, RangeError& error) const {
    std::string digits;
    for (const char c : trim(text)) {
      if (c != '_') {
        digits += c;
      }
    }
    double factor = 1;
    if (suffixes == Suffixes::binary && !digits.empty()) {
      const char last = digits.back();
      factor = last == 'k' || last == 'K' ? 1024 : last == 'M' ? 1048576 : 1;
      digits.resize(digits.size() - (factor > 1 ? 1 : 0));
    }
    std::int64_t count = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    const double scaled = static_cast<double>(count) * factor;
    if (code != std::errc{} || end != digits.data() + digits.size() || scaled < 1 ||
        scaled > largest_count) {
      complain(error,
               fmt::format("'{}' is no whole number from 1 to {:.0f}", shown(text), largest_count));
      return std::nullopt;
    }
    return scaled;
  }
  [[nodiscard]] static double multiplied(double value, double factor) {
    return std::max(value + 1, std::round(value * factor)); // a whole number, and a larger one
  }
  static constexpr bool doubles = false;
};

template <class Q>
struct Quantities {
  [[nodiscard]] static std::optional<double> value(std::string_view text, RangeError& error) {
    UnitError why;
    const std::optional<Q> quantity = parse_quantity<Q>(trim(text), why);
    if (!quantity || !(quantity->si() > 0)) {
      complain(error, quantity ? fmt::format("'{}' is not above zero", shown(text)) : why.message,
               quantity ? quantity_example<Q>() : std::string_view{why.expected});
      return std::nullopt;
    }
    return quantity->si();
  }
  [[nodiscard]] static double multiplied(double value, double factor) { return value * factor; }
  static constexpr bool doubles = true;
};

struct Step {
  bool multiplies = false;
  double by = 1;
};

template <class Form>
std::optional<Step> step_from(std::string_view text, const Form& form, RangeError& error) {
  const std::string step = trim(text);
  if (step.starts_with('+')) {
    const std::optional<double> by = form.value(std::string_view{step}.substr(1), error);
    return by ? std::optional{Step{false, *by}} : std::nullopt;
  }
  const std::optional<double> factor =
      step.starts_with('x') ? number(std::string_view{step}.substr(1)) : std::nullopt;
  if (!factor || !(*factor > 1)) {
    complain(error, fmt::format("'{}' is no step", shown(step)),
             "x and a factor above 1, or + and a difference: x2, +64");
    return std::nullopt;
  }
  return Step{true, *factor};
}

/// The last point may miss the end by rounding alone.
bool beyond(double value, double end) {
  return value > end * (1 + 1e-12);
}

/// Appends the points of "a..b:step"; false with an error.
template <class Form>
bool add_span(std::string_view text, std::size_t dots, const Form& form, std::size_t most,
              std::vector<double>& points, RangeError& error) {
  std::string_view last = text.substr(dots + 2);
  const std::size_t colon = last.find(':');
  Step step{Form::doubles, Form::doubles ? 2.0 : 1.0};
  if (colon != std::string_view::npos) {
    const std::optional<Step> given = step_from(last.substr(colon + 1), form, error);
    if (!given) {
      return false;
    }
    step = *given;
    last = last.substr(0, colon);
  }
  const std::optional<double> from = form.value(text.substr(0, dots), error);
  const std::optional<double> to = from ? form.value(last, error) : std::nullopt;
  if (!to) {
    return false;
  }
  if (*from > *to) {
    complain(error, fmt::format("'{}' runs downwards", shown(text)));
    return false;
  }
  for (double at = *from; !beyond(at, *to);
       at = step.multiplies ? form.multiplied(at, step.by) : at + step.by) {
    if (points.size() >= most) {
      complain(error, fmt::format("more than {} points", most), "fewer points: a larger step");
      return false;
    }
    points.push_back(at);
  }
  return true;
}

template <class Form>
std::optional<std::vector<double>> parse(std::string_view text, const Form& form, std::size_t most,
                                         RangeError& error) {
  std::vector<double> points;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, comma - start);
    start = comma + 1;
    const std::size_t dots = part.find("..");
    if (dots != std::string_view::npos) {
      if (!add_span(part, dots, form, most, points, error)) {
        return std::nullopt;
      }
      continue;
    }
    const std::optional<double> value = form.value(part, error);
    if (!value || points.size() >= most) {
      if (value) {
        complain(error, fmt::format("more than {} points", most), "fewer points");
      }
      return std::nullopt;
    }
    points.push_back(*value);
  }
  return points;
}

} // namespace

std::optional<std::vector<std::int64_t>> parse_count_range(std::string_view text, Suffixes suffixes,
                                                           RangeError& error,
                                                           std::size_t most_points) {
  const std::optional<std::vector<double>> points =
      parse(text, Counts{suffixes}, most_points, error);
  if (!points) {
    return std::nullopt;
  }
  std::vector<std::int64_t> counts;
  counts.reserve(points->size());
  for (const double point : *points) {
    counts.push_back(static_cast<std::int64_t>(point));
  }
  return counts;
}

template <class Q>
std::optional<std::vector<Q>> parse_quantity_range(std::string_view text, RangeError& error,
                                                   std::size_t most_points) {
  const std::optional<std::vector<double>> points =
      parse(text, Quantities<Q>{}, most_points, error);
  if (!points) {
    return std::nullopt;
  }
  std::vector<Q> quantities;
  quantities.reserve(points->size());
  for (const double point : *points) {
    quantities.emplace_back(point);
  }
  return quantities;
}

template std::optional<std::vector<Bytes>> parse_quantity_range<Bytes>(std::string_view,
                                                                       RangeError&, std::size_t);
template std::optional<std::vector<Watts>> parse_quantity_range<Watts>(std::string_view,
                                                                       RangeError&, std::size_t);

} // namespace clustersim
