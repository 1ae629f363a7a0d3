#include "report/csv_writer.hpp"

namespace clustersim {

std::string csv_line(const std::vector<std::string>& fields) {
  std::string out;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    out += i == 0 ? "" : ",";
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      out += fields[i];
      continue;
    }
    out += '"';
    for (const char c : fields[i]) {
      out += c == '"' ? "\"\"" : std::string(1, c);
    }
    out += '"';
  }
  return out + "\n";
}

} // namespace clustersim
