#include "spec/rewrite.hpp"

#include "spec/schemas.hpp"
#include "spec/settings.hpp"
#include "spec/text_file.hpp"
#include "spec/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace clustersim {

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04X}", code);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return bare ? key : toml_string(key);
}

namespace {

std::string value_text(const Tree& tree) {
  std::string out;
  switch (tree.type) {
  case TreeType::string:
    return toml_string(tree.string);
  case TreeType::array:
    for (const Tree& item : tree.items)
      out += (out.empty() ? "" : ", ") + value_text(item);
    return "[" + out + "]";
  case TreeType::table:
    for (const TreeMember& member : tree.members)
      out += (out.empty() ? " " : ", ") + toml_key(member.key) + " = " + value_text(member.value);
    return "{" + out + " }";
  case TreeType::real: {
    std::string text = written(tree);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
  }
  case TreeType::integer:
  case TreeType::boolean:
  case TreeType::date:
    return written(tree);
  }
  return out;
}

/// { value = …, source = … } reads best on one line.
bool own_header(const Tree& tree) {
  return tree.type == TreeType::table && !is_annotated(tree);
}

void write_table(std::string& out, const Tree& table, const std::string& path) {
  const bool values = std::any_of(table.members.begin(), table.members.end(),
                                  [](const TreeMember& one) { return !own_header(one.value); });
  if (!path.empty() && (values || table.members.empty())) out += "\n[" + path + "]\n";
  for (const TreeMember& member : table.members) {
    if (!own_header(member.value)) {
      out += toml_key(member.key) + " = " + value_text(member.value) + "\n";
    }
  }
  for (const TreeMember& member : table.members) {
    if (own_header(member.value)) {
      write_table(out, member.value, (path.empty() ? "" : path + ".") + toml_key(member.key));
    }
  }
}

Tree number(std::int64_t value) {
  Tree tree;
  tree.type = TreeType::integer;
  tree.integer = value;
  return tree;
}
Tree word(std::string_view value) {
  Tree tree;
  tree.type = TreeType::string;
  tree.string = value;
  return tree;
}
Tree boolean(bool value) {
  Tree tree;
  tree.type = TreeType::boolean;
  tree.boolean = value;
  return tree;
}

/// The axes of a search, each as it stands in the plan.
std::vector<std::pair<std::string, Tree>> axes_of(const Plan& plan) {
  return {{"tensor", number(plan.tensor)},
          {"pipeline", number(plan.pipeline)},
          {"virtual_stages", number(plan.virtual_stages)},
          {"data", number(plan.data)},
          {"context", number(plan.context)},
          {"context_exchange", word(spelled(plan.context_exchange))},
          {"expert", number(plan.expert)},
          {"expert_tensor", number(plan.expert_tensor)},
          {"sequence_parallel", boolean(plan.sequence_parallel)},
          {"zero", number(plan.zero)},
          {"hybrid_shard", number(plan.hybrid_shard)},
          {"micro_batch", number(plan.micro_batch)},
          {"recompute", word(spelled(plan.recompute))},
          {"schedule", word(spelled(plan.schedule))},
          {"ends_as_layers", boolean(plan.ends_as_layers)}};
}

void erase_axis(Tree& plan, const std::string& axis) {
  plan.erase(axis);
  for (const auto& [info, fallback] : documented(scenario_schema())) {
    if (info->key != "plan." + axis) continue;
    for (const std::string& alias : info->aliases)
      plan.erase(alias);
  }
}

Tree& table_of(Tree& root, const std::string& key) {
  if (Tree* known = root.find(key)) return *known;
  root.members.push_back({key, {}, {}});
  return root.members.back().value;
}

} // namespace

std::string toml_text(const Tree& root) {
  std::string out;
  write_table(out, root, "");
  return out;
}

std::optional<std::string> with_plan(const std::string& path,
                                     const std::vector<std::string>& settings, const Plan& plan,
                                     Diagnostics& out) {
  const auto text = read_text_file(path, out);
  auto root = text ? parse_toml(make_source_text(path, *text, Origin::file), out) : std::nullopt;
  if (!root) return std::nullopt;
  apply_settings(settings, *root, out);
  root->erase("search");
  Tree& own = table_of(*root, "plan");
  for (auto& [axis, value] : axes_of(plan)) {
    erase_axis(own, axis);
    own.members.push_back({axis, {}, std::move(value)});
  }
  return toml_text(*root);
}

} // namespace clustersim
