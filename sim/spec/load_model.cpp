// Transformers and software stacks.

#include "spec/objects.hpp"

namespace clustersim {
namespace {

void fill_derived(Transformer& m, const Reading& reading, Diagnostics& out) {
  if (!reading.has("model.kv_heads")) {
    m.kv_heads = m.heads;
  }
  if (!reading.has("model.head_dim")) {
    if (m.hidden % m.heads != 0) {
      out.add(diagnose(reading.place_of("model.heads"),
                       "hidden " + std::to_string(m.hidden) + " is not divisible by heads " +
                           std::to_string(m.heads),
                       "a divisor of hidden, or head_dim given"));
    }
    m.head_dim = m.hidden / m.heads;
  }
  if (!reading.has("model.ffn_hidden")) {
    m.ffn_hidden = 4 * m.hidden;
  }
  if (!reading.has("model.causal")) {
    m.causal = m.architecture == Architecture::decoder;
  }
}

void check_model(const Transformer& m, const Reading& reading, Diagnostics& out) {
  const auto wrong = [&](const char* key, std::string message, std::string expected) {
    out.add(diagnose(reading.place_of(key), std::move(message), std::move(expected)));
  };
  if (m.heads % m.kv_heads != 0) {
    wrong("model.kv_heads",
          "heads " + std::to_string(m.heads) + " are not divisible by kv_heads " +
              std::to_string(m.kv_heads),
          "a divisor of heads");
  }
  constexpr std::int64_t widest_attention = 4000000;
  if (m.head_dim < 1 || m.heads * m.head_dim > widest_attention) {
    wrong("model.head_dim", "heads x head_dim is out of range", "from 1 to 4,000,000");
  }
  if (m.position == PositionKind::learned && m.max_positions == 0) {
    wrong("model.position", "learned positions need 'max_positions'",
          "max_positions = rows of the table, or position = \"rotary\", \"alibi\" or \"none\"");
  }
  if (m.published_parameters) {
    const std::int64_t ours = count_parameters(m).total;
    if (ours != *m.published_parameters) {
      wrong("model.published_parameters",
            "these shapes have " + std::to_string(ours) + " parameters, the checkpoint " +
                std::to_string(*m.published_parameters),
            "equal numbers");
    }
  }
}

} // namespace

std::optional<Transformer> read_transformer(Loading& loading, const Tree& root,
                                            const std::string& id) {
  return read_whole(loading, transformer_schema(), root, id,
                    [](Transformer& model, const Reading& reading, Diagnostics& out) {
                      fill_derived(model, reading, out);
                      check_model(model, reading, out);
                    });
}

std::optional<Transformer> load(Loading& loading, const Name& name, Transformer) {
  const auto found = open_named(loading, Kind::transformer, name);
  return found ? read_transformer(loading, found->tree, found->id) : std::nullopt;
}

std::optional<FusionRecipe> load(Loading& loading, const Name& name, FusionRecipe) {
  const auto found = open_named(loading, Kind::recipe, name);
  if (!found) {
    return std::nullopt;
  }
  return read_whole(loading, recipe_schema(), found->tree, found->id,
                    [](FusionRecipe&, const Reading&, Diagnostics&) {});
}

std::optional<Stack> load(Loading& loading, const Name& name, Stack) {
  const auto found = open_named(loading, Kind::stack, name);
  if (!found) {
    return std::nullopt;
  }
  Name recipe_name;
  auto input = read_whole(loading, stack_schema(), found->tree, found->id,
                          [&](StackInput& stack, const Reading& reading, Diagnostics&) {
                            recipe_name = {stack.recipe, reading.place_of("stack.recipe")};
                          });
  const auto recipe = input ? load(loading, recipe_name, FusionRecipe{}) : std::nullopt;
  if (!recipe) {
    return std::nullopt;
  }
  input->stack.recipe = *recipe;
  return input->stack;
}

} // namespace clustersim
