#pragma once
// Help from the tables of verbs and options: for the terminal and for docs/reference/cli.md.

#include "cli/verbs.hpp"
#include "report/layout.hpp"

#include <string>

namespace clustersim::cli {

[[nodiscard]] std::string overview(TextStyle style);
[[nodiscard]] std::string help_for(const Verb& verb, TextStyle style);
[[nodiscard]] std::string reference_cli();
[[nodiscard]] std::string reference_exit_codes();

} // namespace clustersim::cli
