#pragma once
// The schema of each kind of file, and of a scenario.

#include "spec/catalogue.hpp"
#include "spec/schema.hpp"

namespace clustersim {

/// A node or fabric names its links, chips and so on: the names as read, resolved afterwards.
struct NodeInput {
  Node node;
  std::string chip, scale_up_link, pcie, socket_link, memory, nic_link;
};
struct FabricInput {
  Fabric fabric;
  std::string link;
};
struct ChipInput {
  Chip chip;
  std::string calibration;
};
struct StackInput {
  Stack stack;
  std::string recipe;
};
/// What [model] has beside the keys of a transformer.
struct ModelChoice {
  std::string use;
};
struct ScenarioInput {
  Scenario scenario; // training, plan, power, prices
  std::string node, fabric, stack, calibration;
  int nodes = 1;
};

[[nodiscard]] const Schema<Link>& link_schema();
[[nodiscard]] const Schema<ChipInput>& chip_schema();
[[nodiscard]] const Schema<KernelCalibration>& calibration_schema();
[[nodiscard]] const Schema<NodeInput>& node_schema();
[[nodiscard]] const Schema<FabricInput>& fabric_schema();
[[nodiscard]] const Schema<Transformer>& transformer_schema();
[[nodiscard]] const Schema<FusionRecipe>& recipe_schema();
[[nodiscard]] const Schema<StackInput>& stack_schema();
[[nodiscard]] const Schema<ModelChoice>& model_choice_schema();
[[nodiscard]] const Schema<ScenarioInput>& scenario_schema();

/// id, name, aliases, note: what every file of the catalogue begins with.
template <class T, class Access>
void add_identity(Schema<T>& schema, Access object) {
  const auto member = [object](auto which) {
    return [ object, which ](auto& whole) -> auto& {
      return object(whole).*which;
    };
  };
  using Object = std::remove_cvref_t<decltype(object(std::declval<T&>()))>;
  add(schema, "id", member(&Object::id), "kebab-case name, the file's own").required();
  add(schema, "name", member(&Object::name), "as people write it").required();
  if constexpr (requires(Object o) { o.aliases; }) {
    add(schema, "aliases", member(&Object::aliases), "other names that mean this");
  } else {
    add_custom(
        schema, "aliases", "list of texts", "a list of names",
        [](const Given& given, T&) {
          std::vector<std::string> names;
          return read_value(given, names);
        },
        "other names that mean this");
  }
  if constexpr (requires(Object o) { o.note; }) {
    add(schema, "note", member(&Object::note), "what a reader should know");
  } else {
    add_custom(
        schema, "note", "text", "a string",
        [](const Given& given, T&) {
          std::string text;
          return read_value(given, text);
        },
        "what a reader should know");
  }
}

} // namespace clustersim
