#pragma once
// Internal to this folder: reading a flat JSON configuration key by key, noting which keys were
// used, which were missing, and the first thing that is wrong.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

class JsonConfig {
public:
  /// Nothing when `text` holds no JSON object.
  static std::optional<JsonConfig> parse(const std::string& text);

  [[nodiscard]] bool has(const std::string& key) const;
  /// A whole number from 0 to 10^12; wrong types are refused.
  std::int64_t count(const std::string& key);
  std::int64_t count(const std::string& key, std::int64_t otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  /// Of a list of texts, the first.
  std::string first_text(const std::string& key);
  /// Only this value of a key, in JSON, is understood.
  void only(const std::string& key, const std::string& json, const std::string& meaning);
  /// The object under `key`, empty when there is none; `take_over` its findings afterwards.
  JsonConfig child(const std::string& key);
  void take_over(const JsonConfig& child);
  void use(const std::string& key) { used_.insert(key); }
  void refuse(const std::string& why);
  void infer(const std::string& what) { inferred.push_back(what); }

  [[nodiscard]] const std::string& wrong() const { return wrong_; } // empty: nothing
  [[nodiscard]] std::vector<std::string> unused() const;

  std::vector<std::string> inferred, defaulted;

private:
  struct Object; // keeps the JSON library out of this header
  explicit JsonConfig(std::shared_ptr<const Object> object) : object_(std::move(object)) {}
  /// Whether there is a value that is not null; the key counts as used.
  bool find(const std::string& key);
  std::shared_ptr<const Object> object_;
  std::set<std::string> used_;
  std::string wrong_;
};

} // namespace clustersim
