#pragma once
// docs/reference/input.md, made from the schema tables. A test fails when the page is stale.

#include <string>

namespace clustersim {

[[nodiscard]] std::string schema_reference_markdown();

} // namespace clustersim
