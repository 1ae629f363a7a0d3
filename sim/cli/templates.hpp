#pragma once
// What `init` writes. Every template passes `check` as it stands; a test holds it to that.

#include <string>
#include <string_view>

namespace clustersim::cli {

struct Template {
  std::string_view kind;  // "scenario", "chip", "node"
  std::string_view place; // where it goes unless told otherwise
  std::string_view text;  // {id} stands for the file's own id
};

/// Null where there is none of that kind.
[[nodiscard]] const Template* find_template(std::string_view kind);
[[nodiscard]] std::string filled(const Template& one, std::string_view id);

} // namespace clustersim::cli
