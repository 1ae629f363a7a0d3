#pragma once
// Internal to this folder: reading a flat JSON configuration key by key, noting which keys were
// used, which were missing, and the first thing that is wrong.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

class JsonConfig {
public:
  explicit JsonConfig(nlohmann::json object) : object_(std::move(object)) {}

  [[nodiscard]] bool has(const std::string& key) const;
  /// A whole number from 0 to 10^12; wrong types are refused.
  std::int64_t count(const std::string& key);
  std::int64_t count(const std::string& key, std::int64_t otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  /// Of a list of texts, the first.
  std::string first_text(const std::string& key);
  /// Only this value of a key is understood.
  void only(const std::string& key, const nlohmann::json& value, const std::string& meaning);
  void use(const std::string& key) { used_.insert(key); }
  void refuse(const std::string& why);
  void infer(const std::string& what) { inferred.push_back(what); }

  [[nodiscard]] const std::string& wrong() const { return wrong_; } // empty: nothing
  [[nodiscard]] std::vector<std::string> unused() const;

  std::vector<std::string> inferred, defaulted;

private:
  /// Null when absent (or null), which is noted as used.
  const nlohmann::json* find(const std::string& key);
  nlohmann::json object_;
  std::set<std::string> used_;
  std::string wrong_;
};

} // namespace clustersim
