#include "foreign/huggingface.hpp"

#include "base/text.hpp"
#include "foreign/huggingface_families.hpp"
#include "spec/objects.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim {
namespace {

std::vector<HuggingFaceFamily> all_families() {
  std::vector<HuggingFaceFamily> all = llama_like_families();
  for (const auto* more : {&expert_families(), &older_families(), &encoder_families()})
    all.insert(all.end(), more->begin(), more->end());
  return all;
}

std::optional<HuggingFaceFamily> family_of(JsonConfig& config, const std::string& path,
                                           Diagnostics& out) {
  const std::string type = config.text("model_type", "");
  const std::vector<HuggingFaceFamily> families = all_families();
  const auto found = std::ranges::find_if(
      families, [&](const HuggingFaceFamily& one) { return one.model_type == type; });
  if (found == families.end()) {
    std::string known;
    for (const HuggingFaceFamily& one : families) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", one.model_type);
    }
    complain(out, path,
             type.empty() ? std::string{"'model_type' is missing"}
                          : fmt::format("the model type '{}' is not known", printable(type)),
             known);
    return std::nullopt;
  }
  return *found;
}

/// What architectures[0] has behind the family's prefix; nothing where it has another one.
std::optional<std::string> ending_of(JsonConfig& config, const HuggingFaceFamily& family) {
  const std::vector<std::string> listed = config.texts("architectures");
  if (listed.empty()) {
    config.defaulted.push_back(
        fmt::format("architectures = {}{}", family.prefixes.front(), family.usual_ending));
    return family.usual_ending;
  }
  for (const std::string& prefix : family.prefixes) {
    if (listed.front().starts_with(prefix)) return listed.front().substr(prefix.size());
  }
  config.refuse(fmt::format("the class '{}' belongs to no model of type {}",
                            printable(listed.front().substr(0, 100)), family.model_type),
                "architectures");
  return std::nullopt;
}

std::string toml_of(const ModelKeys& keys, const std::string& id, const std::string& type) {
  std::string out =
      fmt::format("schema = 1\nid     = \"{}\"\nname   = \"{}\"\nsource = \"config\"\n\n"
                  "[sources]\nconfig = \"config.json of a Hugging Face model of type "
                  "{}\"\n\n[model]\n",
                  id, id, type);
  for (const auto& [key, value] : keys.values) {
    out += fmt::format("{:<20} = {}\n", key, value);
  }
  return out;
}

} // namespace

std::optional<ImportedModel> import_huggingface(const std::string& text, const std::string& path,
                                                const std::string& id, Diagnostics& out) {
  std::optional<JsonConfig> config = JsonConfig::parse(text, path, out);
  const auto family = config ? family_of(*config, path, out) : std::nullopt;
  if (!family) {
    return std::nullopt;
  }
  config->assume(family->defaults);
  config->rename(family->names);
  ModelKeys keys;
  if (const auto ending = ending_of(*config, *family)) family->map(*config, keys, *ending);
  if (config->is_wrong()) {
    config->report(text, path, out);
    return std::nullopt;
  }
  ImportedModel model{toml_of(keys, id, family->model_type),
                      id,
                      {},
                      config->inferred,
                      config->defaulted,
                      config->unused()};
  // Our own reader checks ranges and contradictions, and counts.
  const auto root =
      parse_input(make_source_text(path + " (as a transformer)", model.toml, Origin::file), out);
  const Catalogue none({});
  Loading loading{none, out};
  const auto read = root ? read_transformer(loading, *root, id) : std::nullopt;
  if (!read) {
    return std::nullopt;
  }
  model.count = count_parameters(*read);
  return model;
}

} // namespace clustersim
