#include "report/json_writer.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"

#include <cmath>

namespace clustersim {
namespace {

std::string scalar(const Json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (!std::isfinite(number)) {
      throw Bug("a report holds a number that is not finite");
    }
    return shortest(number);
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(std::string& out, const Json& value, std::size_t depth) {
  if (!value.is_structured() || value.empty()) {
    out += scalar(value);
    return;
  }
  const bool object = value.is_object();
  const std::string indent(2 * (depth + 1), ' ');
  out += object ? '{' : '[';
  bool first = true;
  for (const auto& [key, child] : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += indent;
    if (object) {
      out += scalar(Json(key)) + ": ";
    }
    write(out, child, depth + 1);
  }
  out += "\n" + std::string(2 * depth, ' ') + (object ? '}' : ']');
}

} // namespace

std::string to_text(const Json& value) {
  std::string out;
  write(out, value, 0);
  return out + "\n";
}

} // namespace clustersim
