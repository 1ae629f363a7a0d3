#pragma once
// Internal to this folder: reading a JSON configuration key by key over the defaults of the class
// that would read it, noting which keys were used, which were missing, and the first thing that is
// wrong.

#include "base/diagnostic.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

/// Other names of a key, as pairs of other and own.
using JsonNames = std::vector<std::pair<std::string, std::string>>;

class JsonConfig {
public:
  /// Nothing when `text` holds no JSON object; `out` then says where it breaks.
  static std::optional<JsonConfig> parse(const std::string& text, const std::string& path,
                                         Diagnostics& out);

  /// What keys are when the file lacks them, as a JSON object.
  void assume(const std::string& defaults);
  /// Keys under another name move to their own.
  void rename(const JsonNames& names);

  /// In the file or assumed, and not null.
  [[nodiscard]] bool has(const std::string& key) const;
  /// A whole number from 0 to 10^12; wrong types are refused.
  std::int64_t count(const std::string& key);
  std::int64_t count(const std::string& key, std::int64_t otherwise);
  bool flag(const std::string& key);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  /// A list of counts or of texts; null and absent are empty.
  std::vector<std::int64_t> counts(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  /// A finite number above 0 and at most 10^9.
  double real(const std::string& key);
  /// Members of an object or list; null and absent have none.
  std::size_t size(const std::string& key);
  /// Only this value of a key, in JSON, is understood.
  void only(const std::string& key, const std::string& json, const std::string& meaning);
  /// The object under `key`, empty when there is none; `take_over` its findings afterwards.
  JsonConfig child(const std::string& key);
  /// The first object of the list under `key`.
  JsonConfig first(const std::string& key);
  void take_over(const JsonConfig& child, const std::string& key);
  void use(const std::string& key) { used_.insert(key); }
  void refuse(const std::string& why, const std::string& key = {});
  void infer(const std::string& what) { inferred.push_back(what); }

  [[nodiscard]] bool is_wrong() const { return !wrong_.empty(); }
  /// The first thing that is wrong, at the key's first mention in `text`.
  void report(const std::string& text, const std::string& path, Diagnostics& out) const;
  [[nodiscard]] std::vector<std::string> unused() const;

  std::vector<std::string> inferred, defaulted;

private:
  struct Object; // keeps the JSON library out of this header
  explicit JsonConfig(std::shared_ptr<Object> object) : object_(std::move(object)) {}
  struct Found;
  /// The value that counts, with the key noted as used, or as defaulted.
  Found find(const std::string& key);
  std::shared_ptr<Object> object_;
  std::set<std::string> used_;
  std::vector<std::string> unused_below_; // of children, "key.name"
  std::string wrong_, wrong_key_;
};

} // namespace clustersim
