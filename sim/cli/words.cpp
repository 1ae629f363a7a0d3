#include "cli/words.hpp"

#include "base/range.hpp"
#include "base/text.hpp"
#include "cli/failure.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim::cli {

std::string one_of(const std::string& option, const std::string& value,
                   const std::vector<std::string>& known) {
  if (value.empty()) {
    return known.front();
  }
  const auto same = [&](const std::string& word) {
    return canonical_id(word) == canonical_id(value);
  };
  const auto found = std::find_if(known.begin(), known.end(), same);
  if (found != known.end()) {
    return *found;
  }
  const auto near = nearest_name(value, known);
  throw misuse(fmt::format("{}: no '{}'", option, printable(value)),
               near ? fmt::format("did you mean \"{}\"?", *near)
                    : fmt::format("expected one of {}", fmt::join(known, ", ")));
}

int whole_number(std::string_view option, const std::string& text, std::int64_t most) {
  RangeError error;
  const auto counts = parse_count_range(text, Suffixes::none, error);
  if (!counts || counts->size() != 1 || counts->front() < 1 || counts->front() > most) {
    throw misuse(fmt::format("{} '{}' is no number from 1 to {}", option, printable(text), most));
  }
  return static_cast<int>(counts->front());
}

std::optional<Precision> precision_option(const Options& options) {
  if (options.precision.empty()) {
    return std::nullopt;
  }
  const auto precision = precision_from(options.precision);
  if (!precision) {
    std::vector<std::string> known;
    for (const Precision one : all_precisions) {
      known.emplace_back(name_of(one));
    }
    const auto near = nearest_name(options.precision, known);
    throw misuse(fmt::format("--precision: no number format '{}'", printable(options.precision)),
                 near ? fmt::format("did you mean \"{}\"?", *near)
                      : fmt::format("expected one of {}", fmt::join(known, ", ")));
  }
  return precision;
}

} // namespace clustersim::cli
