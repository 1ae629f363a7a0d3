// The walk over a table of keys: one value to each field, one diagnostic for each key that is
// unknown, missing or of the wrong shape.

#include "base/text.hpp"
#include "spec/schema.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace clustersim {
namespace {

// Beyond this many mistakes nobody reads on, and a hostile file must not fill the memory.
constexpr std::size_t most_problems = 500;
constexpr std::size_t longest_key = 64;

class Walk {
public:
  Walk(const std::vector<BoundField>& fields, ReadContext& context)
      : fields_(fields), context_(context) {
    for (const BoundField& field : fields) {
      by_key_.emplace(field.info->key, &field);
      for (const std::string& alias : field.info->aliases) {
        const std::size_t dot = field.info->key.rfind('.');
        by_key_.emplace(
            (dot == std::string::npos ? "" : field.info->key.substr(0, dot + 1)) + alias, &field);
      }
    }
  }

  Reading run(const Tree& root) {
    reading_.tables[""] = root.place;
    table(root, "", nullptr);
    missing();
    return std::move(reading_);
  }

private:
  void table(const Tree& tree, const std::string& prefix, const Tree* outer_source) {
    const Tree* source = tree.find("source");
    if (source == nullptr || by_key_.count(prefix + "source") > 0) {
      source = outer_source;
    }
    for (const TreeMember& member : tree.members) {
      const std::string path = prefix + member.key;
      const bool plain = member.key.find('.') == std::string::npos;
      const auto it = plain ? by_key_.find(path) : by_key_.end();
      if (it != by_key_.end()) {
        value(*it->second, member, source);
      } else if (plain && is_table_name(path)) {
        subtable(member, path, source);
      } else if (member.key != "source" || &member.value != source) {
        unknown(member, prefix);
      }
    }
  }

  void subtable(const TreeMember& member, const std::string& path, const Tree* source) {
    if (member.value.type != TreeType::table || is_annotated(member.value)) {
      add(diagnose(member.value.place, "'" + path + "' is a table",
                   "[" + path + "] with one of " + names_text(path + ".")));
      return;
    }
    reading_.tables[path] = member.key_place;
    table(member.value, path + ".", source);
  }

  void value(const BoundField& field, const TreeMember& member, const Tree* table_source) {
    const FieldInfo& info = *field.info;
    if (seen_.count(info.key) > 0) {
      add(diagnose(member.key_place, "'" + info.key + "' is given twice, once by a short name"));
      return;
    }
    seen_.insert(info.key);
    Annotation note;
    note.place = member.value.place;
    const Tree* value = &member.value;
    const Tree* source = nullptr;
    if (is_annotated(*value)) {
      source = annotate(*value, note);
      value = value->find("value");
      note.place = value->place;
    }
    if (source == nullptr && table_source != nullptr &&
        table_source->place.text == note.place.text) {
      source = table_source;
    }
    const Given given{*value, info, context_};
    const bool read = field.read(given) && (info.feature.empty() || allowed(given));
    note.source = citation(given, source);
    if (!read) {
      reading_.broken.insert(info.key);
    } else {
      note.written = info.show_bound ? value->string : "";
      reading_.given.emplace(info.key, std::move(note));
    }
  }

  // A known name of something this version cannot do.
  bool allowed(const Given& given) {
    const FieldInfo& info = given.info;
    const Tree& tree = given.tree;
    const std::string text = tree.type == TreeType::string ? tree.string : written(tree);
    for (std::size_t at = 0; !info.only.empty() && at != std::string::npos;) {
      const std::size_t end = info.only.find(" or ", at);
      if (text == info.only.substr(at, end == std::string::npos ? end : end - at)) {
        return true;
      }
      at = end == std::string::npos ? end : end + 4;
    }
    add(diagnose(tree.place, info.feature + " not supported yet by this version",
                 info.only.empty() ? "'" + info.key + "' left out"
                                   : info.key + " = " + in_toml(info.only)));
    return false;
  }

  const Tree* annotate(const Tree& table, Annotation& note) {
    const Tree* source = nullptr;
    for (const TreeMember& member : table.members) {
      if (member.key == "value") {
        continue;
      }
      std::string* text = member.key == "date"     ? &note.date
                          : member.key == "note"   ? &note.note
                          : member.key == "fitted" ? &note.fitted
                          : member.key == "source" ? &note.source
                                                   : nullptr;
      if (text == nullptr) {
        const auto near = nearest(member.key, {"value", "source", "date", "note", "fitted"});
        add(diagnose(member.key_place, "unknown key " + quoted(member.key) + " beside a value",
                     "value, source, date, note or fitted", near));
        continue;
      }
      const Tree& value = member.value;
      if (value.type != TreeType::string && value.type != TreeType::date) {
        add(diagnose(value.place, "'" + member.key + "' must be a string", "a string"));
        continue;
      }
      *text = value.string;
      if (member.key == "source") {
        source = &value;
      }
      if (member.key == "fitted" && value.string != "time" && value.string != "memory") {
        add(diagnose(value.place, written(value) + " is not a valid 'fitted'",
                     "\"time\" or \"memory\""));
      }
    }
    return source;
  }

  // The citation behind a value; a figure of the catalogue must have one.
  std::string citation(const Given& given, const Tree* source) {
    const SourceText& text = *given.tree.place.text;
    if (source != nullptr) {
      const auto it = text.sources.find(source->string);
      if (it != text.sources.end()) {
        return it->second;
      }
      if (text.origin != Origin::catalogue && text.sources.empty()) {
        return source->string; // a scenario may cite in words
      }
      std::vector<std::string> names;
      for (const auto& [name, words] : text.sources) {
        names.push_back(name);
      }
      add(diagnose(source->place, "source " + written(*source) + " is not declared",
                   "a key of [sources]", nearest(source->string, names)));
      return {};
    }
    if (text.default_source.empty() && text.origin == Origin::catalogue && given.info.figure) {
      add(diagnose(given.tree.place, "'" + given.info.key + "' has no source",
                   "source = \"…\" at the top of the file, in its table, or beside the value"));
    }
    const bool words = given.info.type == "text" || given.info.type == "list of texts";
    return words ? "" : text.default_source;
  }

  void unknown(const TreeMember& member, const std::string& prefix) {
    if (context_.partial) {
      return;
    }
    const std::string table = prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
    std::string suggestion = nearest(member.key, names_under(prefix));
    if (suggestion.empty()) {
      suggestion = elsewhere(member.key);
    }
    const bool is_table = member.value.type == TreeType::table;
    const std::string what = is_table ? "unknown table " : "unknown key ";
    add(diagnose(member.key_place,
                 what + quoted(member.key) + (table.empty() ? "" : " in [" + table + "]"),
                 suggestion.empty() ? "one of " + names_text(prefix) : "", suggestion));
  }

  // A key that belongs in another table, perhaps misspelt.
  [[nodiscard]] std::string elsewhere(const std::string& key) const {
    std::vector<std::string> last_parts;
    for (const auto& [path, field] : by_key_) {
      const std::size_t dot = path.rfind('.');
      last_parts.push_back(path.substr(dot == std::string::npos ? 0 : dot + 1));
      if (dot != std::string::npos && last_parts.back() == key) {
        return "'" + key + "' belongs in [" + path.substr(0, dot) + "]";
      }
    }
    const auto near = nearest_name(key, last_parts);
    if (!near) {
      return "";
    }
    const auto at = std::find(last_parts.begin(), last_parts.end(), *near) - last_parts.begin();
    return "did you mean " + quoted(std::next(by_key_.begin(), at)->first) + "?";
  }

  void missing() {
    for (const BoundField& field : fields_) {
      if (field.info->required && seen_.count(field.info->key) == 0) {
        const std::size_t dot = field.info->key.rfind('.');
        const std::string table = dot == std::string::npos ? "" : field.info->key.substr(0, dot);
        const bool has_table = reading_.tables.count(table) > 0;
        if (field.info->only_in_table && !has_table) continue;
        const std::string& other = field.info->excused_by;
        if (!other.empty() && reading_.tables.count(other) > 0) continue;
        add(diagnose(reading_.place_of(field.info->key),
                     "'" + field.info->key.substr(dot == std::string::npos ? 0 : dot + 1) +
                         "' is missing" + (table.empty() ? "" : " in [" + table + "]"),
                     expected_text(*field.info),
                     has_table || table.empty() ? "" : "add a table [" + table + "] with it"));
      }
    }
  }

  [[nodiscard]] bool is_table_name(const std::string& path) const {
    const auto it = by_key_.lower_bound(path + ".");
    return it != by_key_.end() && it->first.compare(0, path.size() + 1, path + ".") == 0;
  }

  [[nodiscard]] std::vector<std::string> names_under(const std::string& prefix) const {
    std::vector<std::string> names;
    for (const BoundField& field : fields_) {
      if (field.info->key.compare(0, prefix.size(), prefix) != 0) {
        continue;
      }
      const std::string rest = field.info->key.substr(prefix.size());
      std::string name = rest.substr(0, rest.find('.'));
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        names.push_back(std::move(name));
      }
    }
    return names;
  }

  [[nodiscard]] std::string names_text(const std::string& prefix) const {
    std::string text;
    for (const std::string& name : names_under(prefix)) {
      text += (text.empty() ? "" : ", ") + name;
    }
    return text;
  }

  static std::string nearest(const std::string& name, const std::vector<std::string>& candidates) {
    return name.size() > longest_key ? "" : nearest_name(name, candidates).value_or("");
  }
  static std::string in_toml(const std::string& value) {
    const bool bare = value == "true" || value == "false" ||
                      value.find_first_not_of("0123456789 or") == std::string::npos;
    return bare ? value : "\"" + value + "\"";
  }
  static std::string quoted(const std::string& name) {
    return "'" + (name.size() > longest_key ? name.substr(0, longest_key) + "…" : name) + "'";
  }

  void add(Diagnostic diagnostic) {
    if (++problems_ <= most_problems) {
      context_.out.add(std::move(diagnostic));
    }
  }

  const std::vector<BoundField>& fields_;
  ReadContext& context_;
  std::map<std::string, const BoundField*> by_key_;
  std::set<std::string> seen_;
  Reading reading_;
  std::size_t problems_ = 0;
};

ResolvedValue resolved(const FieldInfo& info, const Shown& shown, const std::string& prefix) {
  ResolvedValue value;
  value.key = prefix + info.key;
  value.text = shown.text;
  value.unit = shown.number && shown.unit != "1" ? shown.unit : "";
  value.number = shown.number;
  return value;
}

} // namespace

Reading read_fields(const std::vector<BoundField>& fields, const Tree& root, ReadContext& context) {
  return Walk(fields, context).run(root);
}

void echo_fields(const std::vector<BoundField>& fields, const Reading& reading,
                 ReadContext& context) {
  for (const BoundField& field : fields) {
    const FieldInfo& info = *field.info;
    const std::optional<Shown> shown = field.show();
    if (!shown) {
      continue;
    }
    Echo echo;
    echo.value = resolved(info, *shown, context.prefix);
    if (const auto it = reading.given.find(info.key); it != reading.given.end()) {
      const Annotation& note = it->second;
      echo.value.text = note.written.empty() ? echo.value.text : note.written;
      echo.line = note.place.line;
      echo.column = note.place.column;
      echo.value.origin = note.place.text->origin;
      echo.value.where = where_text(note.place);
      echo.value.source = note.source;
      echo.value.date = note.date;
      echo.value.note = note.note;
      echo.value.fitted = note.fitted;
    } else {
      echo.value.origin = info.derived ? Origin::inferred : Origin::default_value;
      echo.value.where = info.reason;
    }
    context.echo.push_back(std::move(echo));
  }
}

} // namespace clustersim
