#pragma once
// RFC 4180: fields with a comma, quote or line break are quoted, quotes doubled.

#include <string>
#include <vector>

namespace clustersim {

[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

} // namespace clustersim
