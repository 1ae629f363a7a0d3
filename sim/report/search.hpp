#pragma once
// `search`: how large the space was, the best plans in it, and why the first of them wins.

#include "pipeline.hpp"
#include "report/layout.hpp"
#include "study/search.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace clustersim {

struct SearchReport {
  Scenario scenario; // all but the plan
  SearchOptions options;
  SearchResult result;
  std::optional<Answer> best;  // the first of the best plans, run whole
  std::optional<Answer> other; // what it is held against: the scenario's own plan, or the next best
  bool other_is_given = false;
};

/// "2.3 % faster than the next: 0.12 s less pipeline bubble, but 0.03 s more data parallel."
[[nodiscard]] std::string reason_of(const SearchReport& report);

[[nodiscard]] std::string render_search_text(const SearchReport& report, TextStyle style);
[[nodiscard]] std::string render_search_json(const SearchReport& report, std::string_view version);
[[nodiscard]] std::string render_search_csv(const SearchReport& report);

} // namespace clustersim
