#include "spec/settings.hpp"

#include "base/text.hpp"
#include "spec/schemas.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>

namespace clustersim {
namespace {

constexpr std::size_t longest_setting = 65536;

struct Setting {
  std::vector<std::string> path;
  Place key_place;
  Tree value;
};

// The '=' that ends the key: the first outside quotes.
std::size_t end_of_key(const std::string& text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=') {
      return i;
    }
  }
  return std::string::npos;
}

std::optional<Tree> parse_quietly(const std::string& text) {
  Diagnostics unheard;
  return parse_toml(make_source_text("--set", text, Origin::command_line), unheard);
}

void move_to(Tree& tree, const Place& place) {
  tree.place = place;
  for (TreeMember& member : tree.members) {
    member.key_place = place;
    move_to(member.value, place);
  }
  for (Tree& item : tree.items) {
    move_to(item, place);
  }
}

// A value is read as TOML if it is TOML, else it is a string: 8, true, "8k", 4.8 TB/s, llama-3-8b.
Tree value_of(const std::string& text, const Place& place) {
  Tree value;
  value.type = TreeType::string;
  value.string = trim(text);
  auto parsed = parse_quietly("v = " + text);
  if (parsed && parsed->members.size() == 1 && parsed->members[0].key == "v" &&
      parsed->members[0].value.type != TreeType::date) {
    value = std::move(parsed->members[0].value);
  }
  move_to(value, place);
  return value;
}

std::optional<std::vector<std::string>> key_path(const std::string& text) {
  if (text.find('\n') != std::string::npos) {
    return std::nullopt;
  }
  auto parsed = parse_quietly(text + " = 0");
  std::vector<std::string> path;
  for (Tree* at = parsed ? &*parsed : nullptr; at != nullptr && at->members.size() == 1;
       at = &at->members[0].value) {
    path.push_back(at->members[0].key);
  }
  return path.empty() ? std::nullopt : std::optional(path);
}

// Short names: an alias (tp), a key that only one table has (nodes), the model. A scenario trains
// or serves: of both jobs' keys those of the file's are meant.
void lengthen(std::vector<std::string>& path, bool serves) {
  const char* other_job = serves ? "training." : "inference.";
  if (path.size() == 1 && path[0] == "model") {
    path = {"model", "use"};
    return;
  }
  std::vector<std::string> keys;
  for (const auto& [info, fallback] : documented(scenario_schema())) {
    const std::vector<std::string> parts = split(info->key, '.');
    const auto is = [&](const std::string& name) {
      return path.size() == 1
                 ? path[0] == name
                 : path.size() == 2 && parts.size() == 2 && path[0] == parts[0] && path[1] == name;
    };
    if (std::any_of(info->aliases.begin(), info->aliases.end(), is)) {
      path = parts;
      return;
    }
    if (parts.size() > 1 && parts.back() != "use" && path.size() == 1 && is(parts.back()) &&
        !info->key.starts_with(other_job)) {
      keys.push_back(info->key);
    }
    if (path.size() == 1 && info->key == path[0]) {
      return;
    }
  }
  if (keys.size() == 1) {
    path = split(keys.front(), '.');
  }
}

std::optional<Setting> parse_setting(const std::string& given, const Tree& root, Diagnostics& out) {
  const auto text =
      make_source_text("--set", given.substr(0, longest_setting), Origin::command_line);
  const std::size_t equals = end_of_key(text->text);
  if (given.size() > longest_setting || !fit_to_parse(text, out)) {
    if (given.size() > longest_setting) {
      out.add(diagnose({text, 1, 1, 1}, "a setting longer than 64 KiB"));
    }
    return std::nullopt;
  }
  if (equals == std::string::npos || trim(given.substr(0, equals)).empty()) {
    out.add(diagnose({text, 1, 1, given.size()}, "not a setting", "key=value, such as tp=8"));
    return std::nullopt;
  }
  const std::size_t start = given.find_first_not_of(' ', equals + 1);
  const Place value_place{text, 1, (start == std::string::npos ? equals : start) + 1,
                          start == std::string::npos ? 1 : given.size() - start};
  if (start == std::string::npos) {
    out.add(diagnose(value_place, "no value", "key=value, such as tp=8"));
    return std::nullopt;
  }
  Setting setting;
  setting.key_place = {text, 1, 1, trim(given.substr(0, equals)).size()};
  const auto path = key_path(given.substr(0, equals));
  if (!path) {
    out.add(diagnose(setting.key_place, "not a key", "dotted names such as plan.tensor"));
    return std::nullopt;
  }
  setting.path = *path;
  lengthen(setting.path, root.find("inference") != nullptr);
  setting.value = value_of(given.substr(start), value_place);
  return setting;
}

// A setting under the full name replaces what the file says under a short one.
void erase_aliases(const std::vector<std::string>& path, Tree& root) {
  if (path.size() != 2) {
    return;
  }
  Tree* table = root.find(path[0]);
  for (const auto& [info, fallback] : documented(scenario_schema())) {
    if (table != nullptr && info->key == path[0] + "." + path[1]) {
      for (const std::string& alias : info->aliases) {
        table->erase(alias);
      }
    }
  }
}

} // namespace

void apply_settings(const std::vector<std::string>& settings, Tree& root, Diagnostics& out) {
  for (const std::string& given : settings) {
    auto setting = parse_setting(given, root, out);
    if (!setting) {
      continue;
    }
    if (setting->path == std::vector<std::string>{"model", "use"}) {
      root.erase("model"); // another model altogether, not the file's with another name
    }
    erase_aliases(setting->path, root);
    Tree branch = std::move(setting->value);
    for (auto part = setting->path.rbegin(); part != setting->path.rend(); ++part) {
      Tree table;
      table.place = setting->key_place;
      table.members.push_back({*part, setting->key_place, std::move(branch)});
      branch = std::move(table);
    }
    merge(root, branch);
  }
}

} // namespace clustersim
