#pragma once
// Internal to this folder: the words of a shell script that are worth reading, with the line of
// each. Quotes, comments, continued lines and variables that the script itself sets are understood;
// nothing is run.

#include "base/diagnostic.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace clustersim {

struct ShellWord {
  std::string text;
  std::size_t line = 0, column = 0;
};

struct ShellScript {
  std::vector<ShellWord> words;                 // all but assignments, variables replaced
  std::map<std::string, std::string> variables; // as last set
};

/// Nothing but words: text that is no script at all gives words too.
[[nodiscard]] ShellScript read_shell(const std::string& text);

} // namespace clustersim
