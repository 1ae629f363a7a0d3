#include "foreign/huggingface.hpp"

#include "base/text.hpp"
#include "foreign/huggingface_families.hpp"
#include "spec/objects.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim {
namespace {

void complain(Diagnostics& out, const std::string& path, std::string message,
              std::string expected = {}) {
  Diagnostic diagnostic;
  diagnostic.where.file = path;
  diagnostic.message = std::move(message);
  diagnostic.expected = std::move(expected);
  out.add(std::move(diagnostic));
}

/// Brackets outside of texts: a configuration nests a few levels, an attack thousands.
bool nests_too_deep(const std::string& text) {
  constexpr int deepest = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > deepest) {
        return true;
      }
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

std::optional<JsonConfig> parse(const std::string& text, const std::string& path,
                                Diagnostics& out) {
  if (nests_too_deep(text)) {
    complain(out, path, "the JSON nests more than 64 levels deep");
    return std::nullopt;
  }
  auto config = JsonConfig::parse(text);
  if (!config) {
    complain(out, path, "the file holds no JSON object", "the config.json of a model");
  }
  return config;
}

std::optional<HuggingFaceFamily> family_of(JsonConfig& config, const std::string& path,
                                           Diagnostics& out) {
  const std::string type = config.text("model_type", "");
  std::vector<HuggingFaceFamily> families = huggingface_families();
  const auto& others = other_huggingface_families();
  families.insert(families.end(), others.begin(), others.end());
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
  const std::string architecture = config.first_text("architectures");
  if (architecture.empty()) {
    config.defaulted.push_back(fmt::format("architectures = {}", found->architecture));
  } else if (architecture != found->architecture) {
    complain(out, path,
             fmt::format("the checkpoint of '{}' holds other parts than the language model",
                         printable(architecture)),
             found->architecture);
    return std::nullopt;
  }
  return *found;
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
  std::optional<JsonConfig> config = parse(text, path, out);
  const auto family = config ? family_of(*config, path, out) : std::nullopt;
  if (!family) {
    return std::nullopt;
  }
  ModelKeys keys;
  family->map(*config, keys);
  if (!config->wrong().empty()) {
    complain(out, path, config->wrong());
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
