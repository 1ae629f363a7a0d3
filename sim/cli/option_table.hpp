#pragma once
// The table of options: parser, help and reference read it.

#include "cli/options.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clustersim::cli {

struct OptionSpec {
  std::string_view names; // "-o,--output"
  std::string_view value; // "FILE", empty for a flag
  std::string_view help;
  bool global = true; // false: only verbs that name it
  std::variant<bool Options::*, std::string Options::*, std::vector<std::string> Options::*,
               bool KernelOptions::*, std::string KernelOptions::*,
               std::vector<std::string> KernelOptions::*, bool PlanSearchOptions::*,
               std::string PlanSearchOptions::*, std::vector<std::string> PlanSearchOptions::*>
      target;

  /// "--output"
  [[nodiscard]] std::string_view name() const { return names.substr(names.find("--")); }
};

[[nodiscard]] const std::vector<OptionSpec>& option_table();
[[nodiscard]] const OptionSpec& option(std::string_view name);

} // namespace clustersim::cli
