#include "foreign/json_config.hpp"

#include "base/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace clustersim {

using nlohmann::json;

struct JsonConfig::Object {
  json file, assumed = json::object();
};

struct JsonConfig::Found {
  const json* value = nullptr; // nothing where null or absent
  [[nodiscard]] bool there() const { return value != nullptr; }
};

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20U;
constexpr int deepest = 64;

/// Where brackets outside of texts first nest deeper than any configuration does.
std::optional<std::size_t> too_deep(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[') && ++depth > deepest) {
      return i;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return std::nullopt;
}

bool is_word(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == '_';
}

Diagnostic diagnose_at(const std::string& text, const std::string& path, std::size_t at,
                       std::string message) {
  constexpr std::size_t longest_line = 160;
  const std::size_t end = std::min(at, text.size());
  const auto before = text.begin() + static_cast<std::ptrdiff_t>(end);
  const std::size_t start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t from = start == std::string::npos ? 0 : start + 1;
  Diagnostic diagnostic;
  diagnostic.where.file = path;
  diagnostic.where.line = 1 + static_cast<std::size_t>(std::count(text.begin(), before, '\n'));
  diagnostic.where.column = end - from + 1;
  const std::string line = text.substr(from, text.find('\n', from) - from);
  if (line.size() <= longest_line) diagnostic.line_text = line;
  diagnostic.message = std::move(message);
  return diagnostic;
}

} // namespace

std::optional<JsonConfig> JsonConfig::parse(const std::string& text, const std::string& path,
                                            Diagnostics& out) {
  if (text.size() > most_bytes) {
    complain(out, path, "the file is larger than 16 MiB, which no configuration is");
    return std::nullopt;
  }
  if (const auto at = too_deep(text)) {
    out.add(diagnose_at(text, path, *at,
                        fmt::format("the JSON nests more than {} levels deep", deepest)));
    return std::nullopt;
  }
  json value;
  try {
    value = json::parse(text);
  } catch (const json::parse_error& error) {
    // The byte is counted from 1 and lies one past the last that was read.
    std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    while (at > 0 && at < text.size() && is_word(text[at - 1]))
      --at; // to the start of the word that is wrong
    out.add(diagnose_at(text, path, at,
                        at >= text.size() ? "the JSON ends too early" : "this is no valid JSON"));
    return std::nullopt;
  } catch (const json::out_of_range&) {
    out.add(diagnose_at(text, path, 0, "the JSON holds a number beyond all range"));
    return std::nullopt;
  }
  if (!value.is_object()) {
    Diagnostic diagnostic = diagnose_at(text, path, 0, "the file holds no JSON object");
    diagnostic.expected = "a configuration in braces";
    out.add(std::move(diagnostic));
    return std::nullopt;
  }
  return JsonConfig(std::make_shared<Object>(Object{std::move(value), json::object()}));
}

void JsonConfig::assume(const std::string& defaults) {
  object_->assumed = json::parse(defaults);
}

void JsonConfig::rename(const JsonNames& names) {
  for (const auto& [other, own] : names) {
    const auto found = object_->file.find(other);
    if (found == object_->file.end()) continue;
    json value = *found;
    object_->file.erase(found);
    object_->file[own] = std::move(value);
    infer(fmt::format("{} under its other name {}", own, other));
  }
}

bool JsonConfig::has(const std::string& key) const {
  const auto in_file = object_->file.find(key);
  if (in_file != object_->file.end()) return !in_file->is_null();
  const auto assumed = object_->assumed.find(key);
  return assumed != object_->assumed.end() && !assumed->is_null();
}

JsonConfig::Found JsonConfig::find(const std::string& key) {
  used_.insert(key);
  const auto in_file = object_->file.find(key);
  if (in_file != object_->file.end()) return {in_file->is_null() ? nullptr : &*in_file};
  const auto assumed = object_->assumed.find(key);
  if (assumed == object_->assumed.end() || assumed->is_null()) return {};
  const std::string note = key + " = " + assumed->dump();
  if (std::ranges::find(defaulted, note) == defaulted.end()) defaulted.push_back(note);
  return {&*assumed};
}

void JsonConfig::refuse(const std::string& why, const std::string& key) {
  if (wrong_.empty()) {
    wrong_ = why;
    wrong_key_ = key;
  }
}

std::int64_t JsonConfig::count(const std::string& key) {
  constexpr std::uint64_t most = 1000000000000;
  const Found found = find(key);
  if (!found.there()) {
    refuse(fmt::format("'{}' is missing", printable(key)), key);
    return 1;
  }
  const bool whole = found.value->is_number_unsigned() && found.value->get<std::uint64_t>() <= most;
  if (!whole) {
    refuse(fmt::format("'{}' is no whole number from 0 to 10^12", printable(key)), key);
    return 1;
  }
  return found.value->get<std::int64_t>();
}

std::int64_t JsonConfig::count(const std::string& key, std::int64_t otherwise) {
  if (has(key)) return count(key);
  use(key);
  defaulted.push_back(fmt::format("{} = {}", key, otherwise));
  return otherwise;
}

bool JsonConfig::flag(const std::string& key) {
  const Found found = find(key);
  if (!found.there()) return false; // null is false to the library
  if (!found.value->is_boolean()) {
    refuse(fmt::format("'{}' is neither true nor false", printable(key)), key);
    return false;
  }
  return found.value->get<bool>();
}

bool JsonConfig::flag(const std::string& key, bool otherwise) {
  if (has(key)) return flag(key);
  use(key);
  defaulted.push_back(fmt::format("{} = {}", key, otherwise));
  return otherwise;
}

std::string JsonConfig::text(const std::string& key, const std::string& otherwise) {
  const Found found = find(key);
  if (!found.there()) {
    if (!otherwise.empty()) defaulted.push_back(key + " = " + otherwise);
    return otherwise;
  }
  if (!found.value->is_string()) {
    refuse(fmt::format("'{}' is no text", printable(key)), key);
    return otherwise;
  }
  return found.value->get<std::string>();
}

std::vector<std::int64_t> JsonConfig::counts(const std::string& key) {
  constexpr std::int64_t most = 1000000000000;
  std::vector<std::int64_t> numbers;
  const Found found = find(key);
  if (!found.there()) return numbers;
  const bool right =
      found.value->is_array() && std::ranges::all_of(*found.value, [](auto& item) {
        return item.is_number_unsigned() && item.template get<std::uint64_t>() <= most;
      });
  if (!right) {
    refuse(fmt::format("'{}' is no list of whole numbers", printable(key)), key);
    return numbers;
  }
  for (const json& item : *found.value)
    numbers.push_back(item.get<std::int64_t>());
  return numbers;
}

std::vector<std::string> JsonConfig::texts(const std::string& key) {
  std::vector<std::string> words;
  const Found found = find(key);
  if (!found.there()) return words;
  const bool right = found.value->is_array() &&
                     std::ranges::all_of(*found.value, [](auto& item) { return item.is_string(); });
  if (!right) {
    refuse(fmt::format("'{}' is no list of texts", printable(key)), key);
    return words;
  }
  for (const json& item : *found.value)
    words.push_back(item.get<std::string>());
  return words;
}

double JsonConfig::real(const std::string& key) {
  constexpr double most = 1e9;
  const Found found = find(key);
  const double value = found.there() && found.value->is_number() ? found.value->get<double>() : 0.0;
  if (!(value > 0.0 && value <= most)) {
    refuse(fmt::format("'{}' is no number above 0 and at most 10^9", printable(key)), key);
    return 1.0;
  }
  return value;
}

std::size_t JsonConfig::size(const std::string& key) {
  const Found found = find(key);
  return found.there() && found.value->is_structured() ? found.value->size() : 0;
}

void JsonConfig::only(const std::string& key, const std::string& json_text,
                      const std::string& meaning) {
  const Found found = find(key);
  if (found.there() && *found.value != json::parse(json_text)) {
    refuse(fmt::format("'{}' asks for {}, which a transformer file cannot say", printable(key),
                       meaning),
           key);
  }
}

JsonConfig JsonConfig::child(const std::string& key) {
  const Found found = find(key);
  json inner = found.there() ? *found.value : json::object();
  if (!inner.is_object()) {
    refuse(fmt::format("'{}' is no object", printable(key)), key);
    inner = json::object();
  }
  return JsonConfig(std::make_shared<Object>(Object{std::move(inner), json::object()}));
}

JsonConfig JsonConfig::first(const std::string& key) {
  const Found found = find(key);
  const bool listed = found.there() && found.value->is_array() && !found.value->empty() &&
                      found.value->front().is_object();
  if (!listed) refuse(fmt::format("'{}' is no list of objects", printable(key)), key);
  json inner = listed ? found.value->front() : json::object();
  return JsonConfig(std::make_shared<Object>(Object{std::move(inner), json::object()}));
}

void JsonConfig::take_over(const JsonConfig& child, const std::string& key) {
  if (!child.wrong_.empty()) refuse(child.wrong_, child.wrong_key_);
  defaulted.insert(defaulted.end(), child.defaulted.begin(), child.defaulted.end());
  inferred.insert(inferred.end(), child.inferred.begin(), child.inferred.end());
  for (const std::string& name : child.unused())
    unused_below_.push_back(key + "." + name);
}

void JsonConfig::report(const std::string& text, const std::string& path, Diagnostics& out) const {
  if (wrong_.empty()) return;
  const std::size_t at = wrong_key_.empty() ? std::string::npos : text.find('"' + wrong_key_ + '"');
  Diagnostic diagnostic = diagnose_at(text, path, at == std::string::npos ? 0 : at, wrong_);
  if (at == std::string::npos) {
    diagnostic.where = {path, 0, 0};
    diagnostic.line_text.clear();
  } else {
    diagnostic.length = wrong_key_.size() + 2;
  }
  out.add(std::move(diagnostic));
}

std::vector<std::string> JsonConfig::unused() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_->file.items()) {
    if (!used_.contains(key)) keys.push_back(printable(key));
  }
  keys.insert(keys.end(), unused_below_.begin(), unused_below_.end());
  return keys;
}

} // namespace clustersim
