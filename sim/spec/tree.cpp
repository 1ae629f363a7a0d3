#include "spec/tree.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace clustersim {
namespace {

// A caret under column 100,000 helps nobody, and a diagnostic must not copy megabytes.
constexpr std::size_t longest_shown_line = 400;

std::string line_of(const SourceText& text, std::size_t line) {
  if (line == 0 || line > text.line_starts.size()) {
    return {};
  }
  const std::size_t start = text.line_starts[line - 1];
  std::size_t end = std::min(text.text.find('\n', start), text.text.size());
  if (end > start && text.text[end - 1] == '\r') {
    --end;
  }
  return text.text.substr(start, end - start);
}

} // namespace

std::shared_ptr<SourceText> make_source_text(std::string file, std::string text, Origin origin) {
  auto result = std::make_shared<SourceText>();
  result->label = file;
  result->file = std::move(file);
  result->text = std::move(text);
  result->origin = origin;
  result->line_starts.push_back(0);
  for (std::size_t i = 0; i < result->text.size(); ++i) {
    if (result->text[i] == '\n') {
      result->line_starts.push_back(i + 1);
    }
  }
  return result;
}

Diagnostic diagnose(const Place& place, std::string message, std::string expected,
                    std::string suggestion, Severity severity) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.message = std::move(message);
  diagnostic.expected = std::move(expected);
  diagnostic.suggestion = std::move(suggestion);
  if (place.text) {
    diagnostic.where = {place.text->file, place.line, place.column};
    std::string line = line_of(*place.text, place.line);
    if (place.column <= longest_shown_line) {
      if (line.size() > longest_shown_line) {
        std::size_t end = longest_shown_line;
        while (end > 0 && continues_code_point(line[end])) {
          --end;
        }
        line.resize(end);
      }
      diagnostic.line_text = std::move(line);
    }
    const std::size_t room = diagnostic.line_text.size() + 1;
    const std::size_t left = place.column < room ? room - place.column : 1;
    diagnostic.length = std::clamp<std::size_t>(place.length, 1, left);
  }
  return diagnostic;
}

std::string where_text(const Place& place) {
  if (!place.text) {
    return {};
  }
  if (place.text->origin == Origin::command_line || place.line == 0) {
    return place.text->label;
  }
  return place.text->label + ":" + std::to_string(place.line);
}

std::string_view name_of(TreeType type) {
  switch (type) {
  case TreeType::table:
    return "a table";
  case TreeType::array:
    return "an array";
  case TreeType::string:
    return "a string";
  case TreeType::integer:
    return "an integer";
  case TreeType::real:
    return "a number";
  case TreeType::boolean:
    return "a boolean";
  case TreeType::date:
    return "a date";
  }
  return "a value";
}

const TreeMember* Tree::member(std::string_view key) const {
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const TreeMember& m) { return m.key == key; });
  return it == members.end() ? nullptr : &*it;
}

const Tree* Tree::find(std::string_view key) const {
  const TreeMember* found = member(key);
  return found == nullptr ? nullptr : &found->value;
}

Tree* Tree::find(std::string_view key) {
  const auto it = std::find_if(members.begin(), members.end(),
                               [&](const TreeMember& m) { return m.key == key; });
  return it == members.end() ? nullptr : &it->value;
}

void Tree::erase(std::string_view key) {
  std::erase_if(members, [&](const TreeMember& m) { return m.key == key; });
}

const Tree* find_path(const Tree& root, std::string_view dotted) {
  const Tree* node = &root;
  for (const std::string& part : split(dotted, '.')) {
    node = node->find(part);
    if (node == nullptr) {
      return nullptr;
    }
  }
  return node;
}

void merge(Tree& base, const Tree& over) {
  for (const TreeMember& member : over.members) {
    Tree* mine = base.find(member.key);
    if (mine == nullptr) {
      base.members.push_back(member);
    } else if (mine->type == TreeType::table && member.value.type == TreeType::table &&
               !is_annotated(*mine) && !is_annotated(member.value)) {
      merge(*mine, member.value);
    } else {
      const auto at = std::find_if(base.members.begin(), base.members.end(),
                                   [&](const TreeMember& m) { return m.key == member.key; });
      *at = member;
    }
  }
}

bool is_annotated(const Tree& tree) {
  return tree.type == TreeType::table && tree.find("value") != nullptr;
}

std::string written(const Tree& tree) {
  switch (tree.type) {
  case TreeType::string:
    return "\"" + tree.string + "\"";
  case TreeType::date:
    return tree.string;
  case TreeType::integer:
    return std::to_string(tree.integer);
  case TreeType::real:
    return shortest(tree.real);
  case TreeType::boolean:
    return tree.boolean ? "true" : "false";
  case TreeType::array:
    return "[…]";
  case TreeType::table:
    return "{…}";
  }
  return {};
}

} // namespace clustersim
