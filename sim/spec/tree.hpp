#pragma once
// What a TOML text says, with the place of every key and value, free of any parser's types.
// Overrides, inline definitions and --set are merges of such trees; a value keeps the place it came
// from.

#include "base/diagnostic.hpp"
#include "spec/scenario.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// One input text: a file, or one --set.
struct SourceText {
  std::string file;  // as the user spelt it
  std::string label; // in echoes: relative to its data root, so that reports do not depend on where
  std::string text;
  std::vector<std::size_t> line_starts;
  Origin origin = Origin::file;
  std::map<std::string, std::string> sources; // [sources]: key → citation
  std::string default_source;                 // citation of every figure that names no other
};

[[nodiscard]] std::shared_ptr<SourceText> make_source_text(std::string file, std::string text,
                                                           Origin origin);

/// A stretch of a source text on one line; line 0 = the file as a whole.
struct Place {
  std::shared_ptr<const SourceText> text;
  std::size_t line = 0;
  std::size_t column = 0; // 1-based, in bytes
  std::size_t length = 1;
};

/// A diagnostic at `place`, with the offending line.
[[nodiscard]] Diagnostic diagnose(const Place& place, std::string message,
                                  std::string expected = {}, std::string suggestion = {},
                                  Severity severity = Severity::error);
/// "configs/dgx_h100.toml:14", or "--set".
[[nodiscard]] std::string where_text(const Place& place);

enum class TreeType { table, array, string, integer, real, boolean, date };
[[nodiscard]] std::string_view name_of(TreeType type); // "a table", "a string", …

struct TreeMember;

struct Tree {
  TreeType type = TreeType::table;
  Place place;
  std::string string; // strings; dates in their written form
  std::int64_t integer = 0;
  double real = 0.0;
  bool boolean = false;
  std::vector<TreeMember> members; // of a table, in file order
  std::vector<Tree> items;         // of an array

  [[nodiscard]] const Tree* find(std::string_view key) const;
  [[nodiscard]] Tree* find(std::string_view key);
  [[nodiscard]] const TreeMember* member(std::string_view key) const;
  void erase(std::string_view key);
};

struct TreeMember {
  std::string key;
  Place key_place;
  Tree value;
};

/// Value at a dotted path of plain keys, or nullptr.
[[nodiscard]] const Tree* find_path(const Tree& root, std::string_view dotted);

/// Lays `over` on `base`: tables merge, everything else replaces. A table { value = … } counts as a
/// value.
void merge(Tree& base, const Tree& over);

/// True for { value = …, source = …, … }.
[[nodiscard]] bool is_annotated(const Tree& tree);

/// How a scalar would be written in a file.
[[nodiscard]] std::string written(const Tree& tree);

} // namespace clustersim
