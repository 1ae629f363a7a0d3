#include "spec/reference.hpp"

#include "spec/schemas.hpp"

#include <set>

namespace clustersim {
namespace {

std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += c == '|' ? "\\|" : std::string(1, c);
  }
  return escaped;
}

std::string values_of(const FieldInfo& info) {
  if (!info.choices.empty()) {
    std::string words;
    for (const std::string& choice : info.choices) {
      words += (words.empty() ? "`" : ", `") + choice + "`";
    }
    return words;
  }
  const std::string range = range_text(info);
  return info.type + (range.empty() ? "" : ", " + range) +
         (info.binary_suffix ? "; `\"8k\"` is 8192" : "");
}

std::string default_of(const FieldInfo& info, const std::optional<Shown>& shown) {
  if (info.required) {
    return "**required**";
  }
  if (info.derived) {
    return info.reason;
  }
  if (!shown) {
    return "none";
  }
  return "`" + shown->text + "`" + (info.reason.empty() ? "" : ": " + info.reason);
}

void row(std::string& out, const FieldInfo& info, const std::optional<Shown>& shown,
         const std::string& prefix) {
  std::string names = "`" + prefix + (info.family.empty() ? info.key : info.family) + "`";
  for (const std::string& alias : info.aliases) {
    names += ", `" + alias + "`";
  }
  if (info.type == "reserved") {
    out += "| " + names + " | " +
           (info.only.empty() ? "nothing yet" : "only `" + info.only + "` so far") + " | | " +
           info.feature + " not supported yet |\n";
    return;
  }
  const std::string yet = info.feature.empty() ? "" : " (only `" + info.only + "` so far)";
  out += "| " + names + " | " + cell(values_of(info)) + " | " + cell(default_of(info, shown)) +
         " | " + cell(info.help) + yet + " |\n";
}

constexpr const char* table_head = "\n| key | value | default | meaning |\n|---|---|---|---|\n";

template <class T>
void section(std::string& out, const Schema<T>& schema) {
  out += "\n## " + schema.name + "\n\n" + schema.title + ".\n" + table_head;
  std::set<std::string> families;
  for (const auto& [info, fallback] : documented(schema)) {
    if (!info->family.empty() && !families.insert(info->family).second) {
      continue;
    }
    row(out, *info, fallback, "");
    if (info->item) {
      for (const auto& [item, item_fallback] : info->item()) {
        row(out, *item, item_fallback, info->key + "[].");
      }
    }
  }
}

} // namespace

std::string schema_reference_markdown() {
  std::string out =
      "# Input files\n\n"
      "This page is generated from the tables that read the files: `clustersim reference "
      "input`.\n\n"
      "Every file is TOML and begins with `schema = 1`. Keys are written here with the table they "
      "stand in: `plan.tensor` is `tensor` in `[plan]`. A value may stand alone or with its "
      "provenance: `{ value = \"3.35 TB/s\", source = \"datasheet\", date = \"2022-09\", note = "
      "\"…\" }`, and `fitted = \"time\"` or `\"memory\"` marks a scalar set on measured runs. "
      "Files of the catalogue cite a source for every number: beside the value, as `source` in its "
      "table, or as `source` at the top; each is a key of `[sources]`.\n\n"
      "On the command line `--set plan.tensor=4` sets any scenario key; the short names below and "
      "names that only one table has work alone (`tp=4`, `nodes=2`), and `model=llama-3-8b` "
      "chooses another model. `[override.KIND.\"id\"]` replaces keys of a catalogue file, and "
      "`[define.KIND.\"id\"]` adds a file of that kind, with KIND one of chip, transformer, node, "
      "fabric, link, stack, recipe, calibration.\n";
  section(out, scenario_schema());
  section(out, model_choice_schema());
  section(out, search_schema());
  section(out, transformer_schema());
  section(out, chip_schema());
  section(out, node_schema());
  section(out, fabric_schema());
  section(out, link_schema());
  section(out, stack_schema());
  section(out, recipe_schema());
  section(out, optimizer_schema());
  section(out, calibration_schema());
  section(out, overlay_schema());
  return out;
}

} // namespace clustersim
