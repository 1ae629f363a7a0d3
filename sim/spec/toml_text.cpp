#include "spec/toml_text.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <sstream>

namespace {
/// Thrown where the parser finds its own state impossible.
struct ParserGaveUp {};
[[noreturn]] void give_up() {
  throw ParserGaveUp();
}
} // namespace

// toml++ 3.3 trusts some input that it has not looked at, and then asserts: that would end the
// program, or with NDEBUG be undefined. So it is compiled here, with assertions that throw.
#undef NDEBUG
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(condition) ((condition) ? void() : give_up())
#include <toml++/toml.h>

namespace clustersim {
namespace {

using Text = std::shared_ptr<SourceText>;

// The parser counts code points, diagnostics count bytes.
std::size_t byte_column(const SourceText& text, std::size_t line, std::size_t code_point_column) {
  if (line == 0 || line > text.line_starts.size()) {
    return code_point_column;
  }
  std::size_t at = text.line_starts[line - 1];
  const std::size_t start = at;
  for (std::size_t left = code_point_column > 0 ? code_point_column - 1 : 0;
       left > 0 && at < text.text.size() && text.text[at] != '\n'; --left) {
    ++at;
    while (at < text.text.size() && continues_code_point(text.text[at])) {
      ++at;
    }
  }
  return at - start + 1;
}

Place place_of(const Text& text, const toml::source_region& region) {
  Place place;
  place.text = text;
  place.line = region.begin.line;
  place.column = byte_column(*text, place.line, region.begin.column);
  if (region.end.line == region.begin.line && region.end.column > region.begin.column) {
    place.length = byte_column(*text, place.line, region.end.column) - place.column;
  } else if (region.end.line > region.begin.line && place.line <= text->line_starts.size()) {
    const std::size_t start = text->line_starts[place.line - 1];
    const std::size_t end = std::min(text->text.find('\n', start), text->text.size());
    place.length = std::max<std::size_t>(end - start + 1 - std::min(end - start, place.column), 1);
  }
  return place;
}

Tree convert(const Text& text, const toml::node& node);

void convert_table(const Text& text, const toml::table& table, Tree& tree) {
  tree.type = TreeType::table;
  tree.members.reserve(table.size());
  for (const auto& [key, value] : table) {
    tree.members.push_back(
        {std::string(key.str()), place_of(text, key.source()), convert(text, value)});
  }
  // The parser iterates alphabetically; people read top to bottom.
  std::stable_sort(tree.members.begin(), tree.members.end(),
                   [](const TreeMember& a, const TreeMember& b) {
                     return std::pair(a.key_place.line, a.key_place.column) <
                            std::pair(b.key_place.line, b.key_place.column);
                   });
}

Tree convert(const Text& text, const toml::node& node) {
  Tree tree;
  tree.place = place_of(text, node.source());
  if (const toml::table* table = node.as_table()) {
    convert_table(text, *table, tree);
  } else if (const toml::array* array = node.as_array()) {
    tree.type = TreeType::array;
    for (const toml::node& item : *array) {
      tree.items.push_back(convert(text, item));
    }
  } else if (const auto* string = node.as_string()) {
    tree.type = TreeType::string;
    tree.string = string->get();
  } else if (const auto* integer = node.as_integer()) {
    tree.type = TreeType::integer;
    tree.integer = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    tree.type = TreeType::real;
    tree.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    tree.type = TreeType::boolean;
    tree.boolean = boolean->get();
  } else {
    tree.type = TreeType::date;
    std::ostringstream out;
    node.visit([&](const auto& value) {
      if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                    toml::is_date_time<decltype(value)>) {
        out << value.get();
      }
    });
    tree.string = out.str();
  }
  return tree;
}

bool schema_is_known(const Text& text, Tree& root, Diagnostics& out) {
  const Tree* schema = root.find("schema");
  if (schema == nullptr) {
    out.add(diagnose({text, 0, 0, 1}, "no schema version", "", "begin the file with: schema = 1"));
    return false;
  }
  if (schema->type != TreeType::integer || schema->integer < 1) {
    out.add(diagnose(schema->place, "the schema version must be a whole number", "schema = 1"));
    return false;
  }
  if (schema->integer > 1) {
    out.add(diagnose(schema->place,
                     "this file uses schema " + std::to_string(schema->integer) +
                         ", newer than this program understands",
                     "schema = 1", "use a newer clustersim, or write the file for schema 1"));
    return false;
  }
  root.erase("schema");
  return true;
}

// [sources] and the file's own `source`; both are facts about the text, not about the object.
void note_sources(const Text& text, Tree& root, Diagnostics& out) {
  if (const Tree* sources = root.find("sources")) {
    if (sources->type != TreeType::table) {
      out.add(
          diagnose(sources->place, "'sources' must be a table",
                   "[sources] with lines such as datasheet = \"NVIDIA H100 data sheet, 2022\""));
    }
    for (const TreeMember& member : sources->members) {
      if (member.value.type != TreeType::string || trim(member.value.string).empty()) {
        out.add(diagnose(member.value.place, "a source must be a citation in words",
                         "a string such as \"NVIDIA H100 data sheet, 2022\""));
      } else {
        text->sources[member.key] = member.value.string;
      }
    }
    root.erase("sources");
  }
  if (const Tree* source = root.find("source")) {
    const auto known =
        source->type == TreeType::string ? text->sources.find(source->string) : text->sources.end();
    if (known == text->sources.end()) {
      std::vector<std::string> names;
      for (const auto& [name, citation] : text->sources) {
        names.push_back(name);
      }
      const auto near = nearest_name(source->string, names);
      out.add(diagnose(source->place, "source " + written(*source) + " is not declared",
                       "a key of [sources]", near.value_or("")));
    } else {
      text->default_source = known->second;
    }
    root.erase("source");
  }
}

} // namespace

std::optional<Tree> parse_toml(const Text& text, Diagnostics& out) {
  if (!fit_to_parse(text, out)) {
    return std::nullopt;
  }
  try {
    const toml::table table = toml::parse(std::string_view(text->text), text->file);
    Tree root;
    root.place = {text, 0, 0, 1};
    convert_table(text, table, root);
    return root;
  } catch (const toml::parse_error& error) {
    std::string message(error.description());
    constexpr std::string_view preamble = "Error ";
    if (message.compare(0, preamble.size(), preamble) == 0) {
      message.erase(0, preamble.size()); // "while parsing …"
    }
    out.add(diagnose(place_of(text, error.source()), std::move(message)));
    return std::nullopt;
  } catch (const ParserGaveUp&) {
    out.add(diagnose({text, 0, 0, 1}, "this is not TOML"));
    return std::nullopt;
  }
}

std::optional<Tree> parse_input(const Text& text, Diagnostics& out) {
  std::optional<Tree> root = parse_toml(text, out);
  if (!root || !schema_is_known(text, *root, out)) {
    return std::nullopt;
  }
  note_sources(text, *root, out);
  return root;
}

} // namespace clustersim
