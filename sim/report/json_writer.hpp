#pragma once
// Internal to this folder's .cpp files: one way to print JSON. Numbers are the shortest text that
// reads back as the same double; a number that JSON cannot hold is a bug of ours.

#include <string>

#include <nlohmann/json.hpp>

namespace clustersim {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string to_text(const Json& value);

} // namespace clustersim
