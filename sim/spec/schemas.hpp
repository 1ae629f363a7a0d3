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
  std::string use, hf;
};
/// One partition of the cluster as read; `reading` knows its keys' places.
struct PartitionInput {
  std::string node, fabric;
  int nodes = 1;
  Reading reading;
};
struct ScenarioInput {
  Scenario scenario; // training, plan, power, prices
  std::string node, fabric, between, stack, serving_stack, optimizer, calibration, placement;
  std::vector<std::string> adapted; // finetune.targets
  int nodes = 1;
  std::optional<std::int64_t> between_links;
  std::vector<PartitionInput> partitions;
};
/// What an overlay (spec/overlay.hpp) says about itself, for its readers.
struct OverlayInput {
  std::string title, note;
  struct Fit {
    std::vector<std::string> files;
    std::string program, date;
    std::int64_t rows = 0;
    double error_before = 0, error_after = 0, error_left_out = 0;
  } fit;
};

[[nodiscard]] const Schema<Link>& link_schema();
[[nodiscard]] const Schema<ChipInput>& chip_schema();
[[nodiscard]] const Schema<KernelCalibration>& calibration_schema();
[[nodiscard]] const Schema<NodeInput>& node_schema();
[[nodiscard]] const Schema<FabricInput>& fabric_schema();
[[nodiscard]] const Schema<Transformer>& transformer_schema();
[[nodiscard]] const Schema<FusionRecipe>& recipe_schema();
[[nodiscard]] const Schema<StackInput>& stack_schema();
[[nodiscard]] const Schema<Optimizer>& optimizer_schema();
[[nodiscard]] const Schema<ModelChoice>& model_choice_schema();
[[nodiscard]] const Schema<PartitionInput>& partition_schema();
[[nodiscard]] const Schema<ScenarioInput>& scenario_schema();
[[nodiscard]] const Schema<SearchSpace>& search_schema();
[[nodiscard]] const Choices<Recompute>& recompute_words();
[[nodiscard]] const Choices<Schedule>& schedule_words();
[[nodiscard]] const Choices<ContextExchange>& context_exchange_words();
[[nodiscard]] const Choices<Tier>& tier_words();
[[nodiscard]] const Schema<OverlayInput>& overlay_schema();

/// Keys of a scenario that live in files of their own.
void add_tuning(Schema<ScenarioInput>& schema);
void add_offload(Schema<ScenarioInput>& schema);
/// "q", "gate" and so on.
[[nodiscard]] std::optional<Matrix> matrix_from(std::string_view name);

/// id, name, aliases, note: what every file of the catalogue begins with.
template <class T, class Access>
void add_identity(Schema<T>& schema, Access object) {
  const auto member = [object](auto which) {
    return [ object, which ](auto& whole) -> auto& {
      return object(whole).*which;
    };
  };
  using Object = std::remove_cvref_t<decltype(object(std::declval<T&>()))>;
  // Not echoed: whoever prints an object heads it with these.
  const auto first = schema.fields.size();
  add(schema, "id", member(&Object::id), "kebab-case name, the file's own").required();
  add(schema, "name", member(&Object::name), "as people write it").required();
  const auto kept_or_checked = [&](const char* key, auto value, auto access, const char* help) {
    using Value = decltype(value);
    if constexpr (std::is_same_v<decltype(access), std::nullptr_t>) {
      const FieldInfo like = value_info<Value>();
      add_custom(
          schema, key, like.type, like.example,
          [](const Given& given, T&) {
            Value unused;
            return read_value(given, unused);
          },
          help);
    } else {
      add(schema, key, access, help);
    }
  };
  const char* others = "other names that mean this";
  const char* remark = "what a reader should know";
  if constexpr (requires(Object o) { o.aliases; }) {
    kept_or_checked("aliases", std::vector<std::string>{}, member(&Object::aliases), others);
  } else {
    kept_or_checked("aliases", std::vector<std::string>{}, nullptr, others);
  }
  if constexpr (requires(Object o) { o.note; }) {
    kept_or_checked("note", std::string{}, member(&Object::note), remark);
  } else {
    kept_or_checked("note", std::string{}, nullptr, remark);
  }
  for (auto i = first; i < schema.fields.size(); ++i) {
    schema.fields[i].show = [](const T&) { return std::optional<Shown>(); };
  }
}

} // namespace clustersim
