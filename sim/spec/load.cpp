#include "spec/load.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "spec/model_support.hpp"
#include "spec/objects.hpp"
#include "spec/overlay.hpp"
#include "spec/settings.hpp"
#include "spec/toml_text.hpp"
#include "spec/validate.hpp"

#include <algorithm>
#include <filesystem>

namespace clustersim {
namespace {

// A definition need not repeat its id, and may go without another name.
void add_identities(std::map<ObjectKey, Tree>& definitions) {
  for (auto& [key, tree] : definitions) {
    const Place place = tree.members.empty() ? tree.place : tree.members.front().key_place;
    for (const char* name : {"id", "name"}) {
      if (tree.find(name) == nullptr) {
        Tree value;
        value.type = TreeType::string;
        value.string = key.second;
        value.place = place;
        tree.members.push_back({name, place, std::move(value)});
      }
    }
  }
}

/// What `model.hf` names, relative to the scenario, as the tree of a transformer file.
std::optional<Tree> foreign_model(const std::string& file, const Place& place, Loading& loading,
                                  const LoadOptions& options,
                                  std::vector<std::string>& assumptions) {
  if (!options.import_model) {
    loading.out.add(diagnose(place, "Hugging Face configurations are not read here",
                             "use = \"id of a transformer\""));
    return std::nullopt;
  }
  const std::filesystem::path named(file);
  const std::string path =
      named.is_absolute() ? file : (std::filesystem::path(loading.folder) / named).string();
  const auto text = read_text_file(path, loading.out);
  const auto model = text ? options.import_model(*text, path, loading.out) : std::nullopt;
  if (!model) {
    return std::nullopt;
  }
  if (!model->assumption.empty()) {
    assumptions.push_back(model->assumption);
  }
  return parse_input(make_source_text(path + " (as a transformer)", model->toml, Origin::inferred),
                     loading.out);
}

/// The tree that `use` or `hf` names, empty where the keys stand by themselves.
std::optional<NamedTree> chosen_model(ModelChoice& choice, const Reading& reading,
                                      ReadContext& context, Loading& loading,
                                      const LoadOptions& options,
                                      std::vector<std::string>& assumptions) {
  if (reading.has("use")) {
    echo_object(model_choice_schema(), choice, reading, context);
    keep(loading, std::move(context.echo));
    return open_named(loading, Kind::transformer, {choice.use, reading.place_of("use")});
  }
  if (reading.has("hf")) {
    auto tree = foreign_model(choice.hf, reading.place_of("hf"), loading, options, assumptions);
    return tree ? std::optional(NamedTree{"hf", std::move(*tree)}) : std::nullopt;
  }
  return NamedTree{"inline", {}};
}

std::optional<Transformer> load_model(const Tree& root, Loading& loading,
                                      const LoadOptions& options,
                                      std::vector<std::string>& assumptions) {
  const TreeMember* member = root.member("model");
  if (member == nullptr || member->value.type != TreeType::table) {
    return std::nullopt; // reported by the scenario's schema
  }
  ModelChoice choice;
  ReadContext context{loading.out, "model."};
  context.partial = true;
  const Reading reading = read_object(model_choice_schema(), member->value, choice, context);
  Tree own = member->value;
  own.erase("use");
  own.erase("hf");
  if (!reading.broken.empty()) {
    return std::nullopt;
  }
  if (reading.has("use") && reading.has("hf")) {
    loading.out.add(
        diagnose(reading.place_of("hf"), "both 'use' and 'hf' choose a model", "one of them"));
    return std::nullopt;
  }
  if (!reading.has("use") && !reading.has("hf") && own.members.empty()) {
    loading.out.add(diagnose(member->key_place, "no model is chosen",
                             "use = \"id of a transformer\", or the keys of one"));
    return std::nullopt;
  }
  auto chosen = chosen_model(choice, reading, context, loading, options, assumptions);
  if (!chosen) {
    return std::nullopt;
  }
  const std::string id = chosen->id;
  Tree tree = std::move(chosen->tree);
  Tree over;
  if (!own.members.empty()) {
    over.members.push_back({"model", member->key_place, std::move(own)});
    if (Tree* model = tree.find("model")) {
      model->erase("published_parameters"); // of the checkpoint, not of what it becomes here
    }
  }
  merge(tree, over);
  if (!reading.has("use") && !reading.has("hf")) {
    std::map<ObjectKey, Tree> one;
    one.emplace(ObjectKey{Kind::transformer, id}, std::move(tree));
    add_identities(one);
    tree = std::move(one.begin()->second);
  }
  return read_transformer(loading, tree, id);
}

// A feature that lowering does not know would be timed as a plain dense layer without a word.
void refuse_untimed(const Transformer& model, const Tree& root, Loading& loading) {
  const TreeMember* section = root.member("model");
  if (section == nullptr) {
    return;
  }
  const TreeMember* use = section->value.member("use");
  const Place place = use != nullptr ? use->value.place : section->key_place;
  for (const std::string& feature : untimed_features(model)) {
    loading.out.add(
        diagnose(place, "a training step of " + model.name + " cannot be timed: it has " + feature,
                 "tower_parameters = 0, which trains the language model alone"));
  }
}

void warn_unused(const std::map<ObjectKey, Place>& places, const Loading& loading,
                 Scenario& scenario) {
  if (loading.out.has_errors()) {
    return; // what failed to load may have been about to use it
  }
  for (const auto& [key, place] : places) {
    if (loading.used.count(key) == 0) {
      const std::string message = "[override." + std::string(name_of(key.first)) + ".\"" +
                                  key.second + "\"] changes nothing: this scenario does not use it";
      loading.out.add(diagnose(place, message, "", "", Severity::warning));
      scenario.warnings.push_back(message);
    }
  }
}

/// A clock overridden alone takes the peaks with it, where the chip states the clock behind them.
void note_clocks(const std::map<ObjectKey, Place>& places, const Loading& loading,
                 Scenario& scenario) {
  for (const auto& [key, tree] : loading.overrides) {
    const Tree* compute = key.first == Kind::chip ? tree.find("compute") : nullptr;
    if (compute == nullptr || compute->find("boost_clock") == nullptr ||
        compute->find("matrix") != nullptr || compute->find("vector") != nullptr) {
      continue;
    }
    const std::string override = "[override.chip.\"" + key.second + "\"] compute.boost_clock ";
    if (const std::optional<Hertz> stated = replaced_clock(loading, key.second)) {
      scenario.assumptions.push_back(override + "takes matrix, vector and L2 rates with it, from " +
                                     format_quantity(*stated) + ".");
      continue;
    }
    const std::string message = override + "moves no peak, as the chip states no clock behind "
                                           "them: override compute.matrix and compute.vector";
    loading.out.add(diagnose(places.at(key), message, "", "", Severity::warning));
    scenario.warnings.push_back(message);
  }
}

// What a calibration file changed here, and whether it changed anything.
void note_overlay(const Overlay& overlay, const Loading& loading, Scenario& scenario) {
  bool used = overlay.places.empty();
  for (const auto& [key, place] : overlay.places) {
    if (loading.used.count(key) > 0) {
      scenario.assumptions.push_back(overlay_sentence(overlay, key).value_or(""));
      used = true;
    }
  }
  if (!used) {
    const std::string message =
        "calibration " + overlay.file + " changes nothing: this scenario uses none of its objects";
    loading.out.add(diagnose(overlay.places.begin()->second, message, "", "", Severity::warning));
    scenario.warnings.push_back(message);
  }
}

template <class T>
std::optional<T> load_named(Loading& loading, const std::string& text, const Reading& reading,
                            const char* key) {
  return reading.has(key) ? load(loading, Name{text, reading.place_of(key)}, T{}) : std::nullopt;
}

/// The parts of the cluster, by its own keys or as they are listed.
struct LoadedPart {
  std::optional<Node> node;
  std::optional<Fabric> fabric;
  int nodes = 1;
};

std::vector<LoadedPart> load_parts(const ScenarioInput& input, const Reading& reading,
                                   Loading& loading) {
  std::vector<LoadedPart> parts;
  for (const PartitionInput& one : input.partitions) {
    parts.push_back({load_named<Node>(loading, one.node, one.reading, "node"),
                     load_named<Fabric>(loading, one.fabric, one.reading, "fabric"), one.nodes});
  }
  if (parts.empty()) {
    parts.push_back({load_named<Node>(loading, input.node, reading, "cluster.node"),
                     load_named<Fabric>(loading, input.fabric, reading, "cluster.fabric"),
                     input.nodes});
  }
  return parts;
}

/// Nothing of a part that could not be loaded: the scenario is refused then.
Cluster cluster_of(const std::vector<LoadedPart>& parts, const std::optional<Fabric>& between,
                   const ScenarioInput& input) {
  Cluster cluster;
  for (const LoadedPart& part : parts) {
    if (part.node) {
      cluster.partitions.push_back({*part.node, part.nodes, part.fabric.value_or(Fabric{})});
    }
  }
  if (between) cluster.between = Between{*between, input.between_links};
  return cluster;
}

std::optional<Optimizer> load_optimizer_of(Loading& loading, const std::string& name,
                                           const Reading& reading) {
  if (name.empty()) {
    return std::nullopt; // no stack, of which there is a word already
  }
  const char* key = reading.has("training.optimizer") ? "training.optimizer" : "training.stack";
  return load(loading, Name{name, reading.place_of(key)}, Optimizer{});
}

void finish(Scenario& scenario, const Loading& loading) {
  scenario.inputs = loading.values;
  std::stable_sort(scenario.inputs.begin(), scenario.inputs.end(),
                   [](const ResolvedValue& a, const ResolvedValue& b) { return a.key < b.key; });
}

/// A scenario trains or serves: the keys of the other are no inputs of it.
void drop_other_job(std::vector<Echo>& echo, bool serves) {
  const char* other = serves ? "training." : "inference.";
  std::erase_if(echo, [&](const Echo& one) { return one.value.key.starts_with(other); });
}

void read_search(const Tree& root, SearchSpace& space, Loading& loading) {
  const TreeMember* member = root.member("search");
  if (member == nullptr || member->value.type != TreeType::table) {
    return; // a wrong type is reported by the scenario's schema
  }
  ReadContext context{loading.out, "search."};
  const Reading reading = read_object(search_schema(), member->value, space, context);
  echo_object(search_schema(), space, reading, context);
  keep(loading, std::move(context.echo));
}

std::optional<Scenario> read_scenario(const Tree& root, Loading& loading,
                                      const LoadOptions& options) {
  std::map<ObjectKey, Place> override_places, definition_places;
  ReadContext context{loading.out, ""};
  ScenarioInput input;
  const Reading reading = read_object(scenario_schema(), root, input, context);
  collect_tables(root, "define", loading, loading.definitions, definition_places);
  add_identities(loading.definitions);
  collect_tables(root, "override", loading, loading.overrides, override_places);
  if (reading.has("calibration.use")) {
    use_calibration(loading, {input.calibration, reading.place_of("calibration.use")});
  }
  const std::vector<LoadedPart> parts = load_parts(input, reading, loading);
  const auto between = load_named<Fabric>(loading, input.between, reading, "cluster.between");
  auto model = load_model(root, loading, options, input.scenario.assumptions);
  auto stack = reading.has("inference.stack")
                   ? load_named<Stack>(loading, input.serving_stack, reading, "inference.stack")
                   : load_named<Stack>(loading, input.stack, reading, "training.stack");
  if (!reading.has("training.optimizer") && stack) {
    input.optimizer = stack->optimizer.use;
  }
  auto optimizer = load_optimizer_of(loading, input.optimizer, reading);
  input.scenario.cluster = cluster_of(parts, between, input);
  Loaded loaded{
      {}, between ? &*between : nullptr, stack ? &*stack : nullptr, model ? &*model : nullptr};
  for (const LoadedPart& part : parts) {
    loaded.parts.push_back(
        {part.node ? &*part.node : nullptr, part.fabric ? &*part.fabric : nullptr, part.nodes});
  }
  validate(input, reading, loaded, options.open_plan ? PlanIs::open : PlanIs::given, loading.out);
  read_search(root, input.scenario.search, loading);
  if (model) {
    refuse_untimed(*model, root, loading);
  }
  warn_unused(override_places, loading, input.scenario);
  note_clocks(override_places, loading, input.scenario);
  if (loading.out.has_errors() || input.scenario.cluster.partitions.size() != parts.size() ||
      !model || !stack || !optimizer) {
    return std::nullopt;
  }
  for (const Overlay& overlay : overlays_of(loading)) {
    note_overlay(overlay, loading, input.scenario);
  }
  echo_object(scenario_schema(), input, reading, context);
  drop_other_job(context.echo, input.scenario.serves());
  if (!input.partitions.empty()) {
    std::erase_if(context.echo, [](const Echo& echo) { return echo.value.key == "cluster.nodes"; });
  }
  keep(loading, std::move(context.echo));
  Scenario& scenario = input.scenario;
  scenario.model = std::move(*model);
  scenario.training.stack = std::move(*stack);
  scenario.training.optimizer = std::move(*optimizer);
  finish(scenario, loading);
  return std::move(scenario);
}

} // namespace

std::optional<Scenario> parse_scenario(const std::string& text, const std::string& name,
                                       const Catalogue& catalogue, const LoadOptions& options,
                                       Diagnostics& out) {
  auto root = parse_input(make_source_text(name, text, Origin::file), out);
  if (!root) {
    return std::nullopt;
  }
  apply_settings(options.settings, *root, out);
  Loading loading{catalogue, out};
  loading.folder = std::filesystem::path(name).parent_path().string();
  auto scenario = read_scenario(*root, loading, options);
  if (scenario) {
    scenario->path = name;
  }
  return scenario;
}

std::optional<Scenario> load_scenario(const std::string& path, const Catalogue& catalogue,
                                      const LoadOptions& options, Diagnostics& out) {
  const auto text = read_text_file(path, out);
  return text ? parse_scenario(*text, path, catalogue, options, out) : std::nullopt;
}

} // namespace clustersim
