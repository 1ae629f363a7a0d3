#pragma once
// Internal to this folder: the parts that render_text puts together.

#include "report/answer.hpp"
#include "report/figures.hpp"

#include <string>
#include <vector>

namespace clustersim {

[[nodiscard]] std::string heading(std::string_view text, TextStyle style);

/// At most 24 lines of 80 columns: what, how fast, how full, what bounds it, what would help.
[[nodiscard]] std::string first_screen(const Answer& answer, const Figures& figures,
                                       TextStyle style);

/// Time and memory side by side; at most `rows` addends each, the smallest joined.
[[nodiscard]] std::vector<std::string> breakdown_lines(const Answer& answer, const Figures& figures,
                                                       std::size_t rows, TextStyle style);

/// The best three, a line each.
[[nodiscard]] std::vector<std::string> what_if_lines(const Answer& answer, TextStyle style);
/// Largest term, then the cheapest changes that help.
[[nodiscard]] std::vector<std::string> remedy_lines(const Answer& answer, TextStyle style);

/// Every part of the time and of the memory, and what divides it.
[[nodiscard]] std::string parts_section(const Answer& answer, const Figures& figures,
                                        TextStyle style);
/// Changes that lower the peak, in full.
[[nodiscard]] std::string remedies_section(const Answer& answer, TextStyle style);
[[nodiscard]] std::string sensitivity_section(const Explanation& explanation, TextStyle style);
/// How busy streams and links are, and the longest chain; both engines where they are compared.
/// Empty where only the analytic engine ran.
[[nodiscard]] std::string engines_section(const Answer& answer, TextStyle style);
/// Unlike partitions: the shares of each; empty where there is one.
[[nodiscard]] std::string partitions_section(const Answer& answer, TextStyle style);
/// "12 + 88 %" of the batch.
[[nodiscard]] std::string shares_text(const Answer& answer);
[[nodiscard]] std::string energy_section(const Answer& answer, const Figures& figures,
                                         TextStyle style);
[[nodiscard]] std::string notes_section(const Answer& answer, TextStyle style);
[[nodiscard]] std::string inputs_section(const Scenario& scenario, TextStyle style);
[[nodiscard]] std::string operators_section(const Timeline& timeline, TextStyle style);

} // namespace clustersim
