#pragma once
// Internal to this folder: one way to print JSON. Numbers are the shortest text that reads back as
// the same double; a number that JSON cannot hold is a bug of ours. Templates over
// nlohmann::ordered_json, so that the heavy header stays in the .cpp files that build such values.

#include "base/bug.hpp"
#include "base/text.hpp"
#include "report/answer.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

template <class Json>
std::string json_scalar(const Json& value) {
  if (value.is_number_float()) {
    const double number = value.template get<double>();
    if (!std::isfinite(number)) {
      throw Bug("a report holds a number that is not finite");
    }
    return shortest(number);
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Json>
void write_json(std::string& out, const Json& value, std::size_t depth) {
  if (!value.is_structured() || value.empty()) {
    out += json_scalar(value);
    return;
  }
  const bool object = value.is_object();
  const std::string indent(2 * (depth + 1), ' ');
  out += object ? '{' : '[';
  bool first = true;
  for (const auto& [key, child] : value.items()) {
    out += (first ? "\n" : ",\n") + indent;
    first = false;
    if (object) {
      out += json_scalar(Json(key)) + ": ";
    }
    write_json(out, child, depth + 1);
  }
  out += "\n" + std::string(2 * depth, ' ') + (object ? '}' : ']');
}

template <class Json>
std::string to_text(const Json& value) {
  std::string out;
  write_json(out, value, 0);
  return out + "\n";
}

template <class Json>
Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Resolved values as one object, keyed by their dotted keys.
template <class Json>
Json inputs_json(const std::vector<ResolvedValue>& values) {
  Json out = Json::object();
  for (const ResolvedValue& value : values) {
    Json& entry = out[value.key];
    if (value.number) {
      entry["value"] = *value.number;
    } else {
      entry["value"] = value.text;
    }
    entry["text"] = value.text;
    entry["unit"] = value.unit;
    entry["origin"] = name_of(value.origin);
    entry["where"] = value.where;
    entry["source"] = value.source;
    for (const auto& [name, text] :
         {std::pair{"date", &value.date}, {"note", &value.note}, {"fitted", &value.fitted}}) {
      if (!text->empty()) {
        entry[name] = *text;
      }
    }
  }
  return out;
}

} // namespace clustersim
