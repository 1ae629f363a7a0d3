#include "foreign/json_config.hpp"

#include "base/text.hpp"

namespace clustersim {

bool JsonConfig::has(const std::string& key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

const nlohmann::json* JsonConfig::find(const std::string& key) {
  used_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void JsonConfig::refuse(const std::string& why) {
  if (wrong_.empty()) {
    wrong_ = why;
  }
}

std::int64_t JsonConfig::count(const std::string& key) {
  constexpr std::int64_t most = 1000000000000;
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    refuse("'" + key + "' is missing");
    return 1;
  }
  const bool whole = value->is_number_unsigned() && value->get<std::uint64_t>() <= most;
  if (!whole) {
    refuse("'" + key + "' is no whole number from 0 to 10^12");
    return 1;
  }
  return value->get<std::int64_t>();
}

std::int64_t JsonConfig::count(const std::string& key, std::int64_t otherwise) {
  if (find(key) != nullptr) {
    return count(key);
  }
  defaulted.push_back(key + " = " + std::to_string(otherwise));
  return otherwise;
}

bool JsonConfig::flag(const std::string& key, bool otherwise) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    defaulted.push_back(key + (otherwise ? " = true" : " = false"));
    return otherwise;
  }
  if (!value->is_boolean()) {
    refuse("'" + key + "' is neither true nor false");
    return otherwise;
  }
  return value->get<bool>();
}

std::string JsonConfig::text(const std::string& key, const std::string& otherwise) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    defaulted.push_back(key + " = " + otherwise);
    return otherwise;
  }
  if (!value->is_string()) {
    refuse("'" + key + "' is no text");
    return otherwise;
  }
  return value->get<std::string>();
}

std::string JsonConfig::first_text(const std::string& key) {
  const nlohmann::json* value = find(key);
  const bool listed = value != nullptr && value->is_array() && !value->empty();
  return listed && value->front().is_string() ? value->front().get<std::string>() : "";
}

void JsonConfig::only(const std::string& key, const nlohmann::json& value,
                      const std::string& meaning) {
  const nlohmann::json* given = find(key);
  if (given != nullptr && *given != value) {
    refuse("'" + key + "' asks for " + meaning + ", which a transformer file cannot say");
  }
}

std::vector<std::string> JsonConfig::unused() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_.items()) {
    if (!used_.contains(key)) {
      keys.push_back(printable(key));
    }
  }
  return keys;
}

} // namespace clustersim
