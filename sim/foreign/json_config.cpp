#include "foreign/json_config.hpp"

#include "base/text.hpp"

#include <nlohmann/json.hpp>

namespace clustersim {

struct JsonConfig::Object {
  nlohmann::json json;
};

std::optional<JsonConfig> JsonConfig::parse(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return std::nullopt;
  }
  return JsonConfig(std::make_shared<const Object>(Object{std::move(json)}));
}

bool JsonConfig::has(const std::string& key) const {
  const auto found = object_->json.find(key);
  return found != object_->json.end() && !found->is_null();
}

bool JsonConfig::find(const std::string& key) {
  used_.insert(key);
  return has(key);
}

void JsonConfig::refuse(const std::string& why) {
  if (wrong_.empty()) {
    wrong_ = why;
  }
}

std::int64_t JsonConfig::count(const std::string& key) {
  constexpr std::int64_t most = 1000000000000;
  if (!find(key)) {
    refuse("'" + key + "' is missing");
    return 1;
  }
  const nlohmann::json& value = object_->json.at(key);
  const bool whole = value.is_number_unsigned() && value.get<std::uint64_t>() <= most;
  if (!whole) {
    refuse("'" + key + "' is no whole number from 0 to 10^12");
    return 1;
  }
  return value.get<std::int64_t>();
}

std::int64_t JsonConfig::count(const std::string& key, std::int64_t otherwise) {
  if (find(key)) {
    return count(key);
  }
  defaulted.push_back(key + " = " + std::to_string(otherwise));
  return otherwise;
}

bool JsonConfig::flag(const std::string& key, bool otherwise) {
  if (!find(key)) {
    defaulted.push_back(key + (otherwise ? " = true" : " = false"));
    return otherwise;
  }
  const nlohmann::json& value = object_->json.at(key);
  if (!value.is_boolean()) {
    refuse("'" + key + "' is neither true nor false");
    return otherwise;
  }
  return value.get<bool>();
}

std::string JsonConfig::text(const std::string& key, const std::string& otherwise) {
  if (!find(key)) {
    defaulted.push_back(key + " = " + otherwise);
    return otherwise;
  }
  const nlohmann::json& value = object_->json.at(key);
  if (!value.is_string()) {
    refuse("'" + key + "' is no text");
    return otherwise;
  }
  return value.get<std::string>();
}

std::string JsonConfig::first_text(const std::string& key) {
  if (!find(key)) {
    return "";
  }
  const nlohmann::json& value = object_->json.at(key);
  const bool listed = value.is_array() && !value.empty();
  return listed && value.front().is_string() ? value.front().get<std::string>() : "";
}

void JsonConfig::only(const std::string& key, const std::string& json, const std::string& meaning) {
  if (find(key) && object_->json.at(key) != nlohmann::json::parse(json)) {
    refuse("'" + key + "' asks for " + meaning + ", which a transformer file cannot say");
  }
}

JsonConfig JsonConfig::child(const std::string& key) {
  nlohmann::json inner = find(key) ? object_->json.at(key) : nlohmann::json::object();
  if (!inner.is_object()) {
    refuse("'" + key + "' is no object");
    inner = nlohmann::json::object();
  }
  return JsonConfig(std::make_shared<const Object>(Object{std::move(inner)}));
}

void JsonConfig::take_over(const JsonConfig& child) {
  if (!child.wrong().empty()) {
    refuse(child.wrong());
  }
  defaulted.insert(defaulted.end(), child.defaulted.begin(), child.defaulted.end());
}

std::vector<std::string> JsonConfig::unused() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_->json.items()) {
    if (!used_.contains(key)) {
      keys.push_back(printable(key));
    }
  }
  return keys;
}

} // namespace clustersim
