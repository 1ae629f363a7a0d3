#include "cli/kinds.hpp"

#include "base/text.hpp"
#include "cli/failure.hpp"

#include <fmt/format.h>

namespace clustersim::cli {

std::string plural(Kind kind) {
  return std::string{name_of(kind)} + "s";
}

std::optional<Kind> find_kind(std::string_view word) {
  for (const Kind kind : all_kinds) {
    if (word == name_of(kind) || word == plural(kind)) {
      return kind;
    }
  }
  if (word == "model" || word == "models") {
    return Kind::transformer;
  }
  return std::nullopt;
}

Kind kind_from(std::string_view word, const std::vector<std::string>& others) {
  if (const auto kind = find_kind(word)) {
    return *kind;
  }
  std::vector<std::string> known = others;
  for (const Kind kind : all_kinds) {
    known.push_back(plural(kind));
  }
  const auto near = nearest_name(word, known);
  std::string all;
  for (const std::string& one : known) {
    all += (all.empty() ? "expected one of " : ", ") + one;
  }
  throw misuse(fmt::format("no kind '{}'", printable(word)),
               near ? fmt::format("did you mean \"{}\"?", *near) : all);
}

} // namespace clustersim::cli
