#pragma once
// Reading and showing one value of each type that a key can have.

#include "base/diagnostic.hpp"
#include "base/precision.hpp"
#include "base/quantity.hpp"
#include "spec/scenario.hpp"
#include "spec/tree.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace clustersim {

/// A value as the echo prints it.
struct Shown {
  std::string text;
  std::string unit;             // SI
  std::optional<double> number; // in that unit
};

struct FieldInfo;
/// A key with the default that a blank object shows.
struct Documented {
  const FieldInfo* info = nullptr;
  std::optional<Shown> fallback;
};

/// All that is known about one key.
struct FieldInfo {
  std::string key;                  // dotted: "memory.bandwidth"
  std::string family;               // "compute.matrix.PRECISION" for one of a family of like keys
  std::string type;                 // "bandwidth", "count", "word", …
  std::string example;              // "a bandwidth such as \"3.35 TB/s\""
  std::string help, reason;         // reason: why the default is what it is
  std::vector<std::string> aliases; // short names, in the same table and on the command line
  std::vector<std::string> choices;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false; // low itself is out of range
  bool required = false;
  std::string excused_by{};                      // needed unless the file has this table
  bool only_in_table = false;                    // needed only where the file has its table
  bool derived = false;                          // the default is computed from other values
  bool figure = false;                           // a number: in the catalogue it needs a source
  bool binary_suffix = false;                    // "8k" = 8192
  std::string only, feature;                     // see FieldTuner::only
  std::function<std::string(double)> show_bound; // of a range, in the key's unit
  std::function<std::vector<Documented>()> item; // keys of a table in a list
};

/// An echo entry with its place, for file order.
struct Echo {
  std::size_t line = 0, column = 0; // 0 = a default
  ResolvedValue value;
};

struct ReadContext {
  Diagnostics& out;
  std::string prefix; // of echoed keys: "chip.h100-sxm5-80gb."
  std::vector<Echo> echo{};
  bool partial = false; // other readers know the rest: no word about unknown keys
};

/// One value about to be read.
struct Given {
  const Tree& tree;
  const FieldInfo& info;
  ReadContext& context;
};

/// What a file said about a key beside its value.
struct Annotation {
  Place place;         // of the value
  std::string written; // a quantity in the file's own unit
  std::string source, date, note, fitted;
};

/// Outcome of reading an object.
struct Reading {
  std::map<std::string, Annotation> given; // by key
  std::map<std::string, Place> tables;     // where each table starts
  std::set<std::string> broken;            // given, but not readable
  [[nodiscard]] bool has(const std::string& key) const { return given.count(key) > 0; }
  [[nodiscard]] bool sound(const std::string& key) const { return broken.count(key) == 0; }
  /// The value's place, else that of the nearest enclosing table.
  [[nodiscard]] Place place_of(const std::string& key) const;
};

void report(const Given& given, std::string message, std::string suggestion = {});
/// "a whole number from 1 to 10,000": what the key takes.
[[nodiscard]] std::string expected_text(const FieldInfo& info);
[[nodiscard]] std::string range_text(const FieldInfo& info);
[[nodiscard]] bool check_range(const Given& given, double number);

[[nodiscard]] std::optional<std::int64_t> read_count(const Given& given);
[[nodiscard]] std::optional<std::size_t> read_choice(const Given& given);
[[nodiscard]] std::vector<const Tree*> read_tables(const Given& given);
void append(std::vector<Echo>& to, const std::vector<Echo>& from);

bool read_value(const Given& given, bool& out);
bool read_value(const Given& given, double& out);
bool read_value(const Given& given, int& out);
bool read_value(const Given& given, std::int64_t& out);
bool read_value(const Given& given, std::string& out);
bool read_value(const Given& given, std::vector<std::string>& out);
bool read_value(const Given& given, std::vector<std::int64_t>& out); // each in the key's range
bool read_value(const Given& given, Precision& out);
template <int B, int T, int W, int E, int M>
bool read_value(const Given& given, Quantity<B, T, W, E, M>& out); // named quantities
template <class V>
bool read_value(const Given& given, std::optional<V>& out) {
  V value{};
  if (!read_value(given, value)) {
    return false;
  }
  out = std::move(value);
  return true;
}

[[nodiscard]] std::optional<Shown> show_value(bool value);
[[nodiscard]] std::optional<Shown> show_value(double value);
[[nodiscard]] std::optional<Shown> show_value(int value);
[[nodiscard]] std::optional<Shown> show_value(std::int64_t value);
[[nodiscard]] std::optional<Shown> show_value(const std::string& value);
[[nodiscard]] std::optional<Shown> show_value(const std::vector<std::string>& value);
[[nodiscard]] std::optional<Shown> show_value(const std::vector<std::int64_t>& value);
[[nodiscard]] std::optional<Shown> show_value(Precision value);
template <int B, int T, int W, int E, int M>
[[nodiscard]] std::optional<Shown> show_value(Quantity<B, T, W, E, M> value);
template <class V>
[[nodiscard]] std::optional<Shown> show_value(const std::optional<V>& value) {
  return value ? show_value(*value) : std::nullopt;
}

/// Type, example and default range of a member's type.
template <class Member>
[[nodiscard]] FieldInfo value_info();

} // namespace clustersim
