// Transformers and software stacks.

#include "spec/objects.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace clustersim {
namespace {

void fill_derived(Transformer& m, const Reading& reading, Diagnostics& out) {
  if (!reading.has("model.kv_heads")) {
    m.kv_heads = m.heads;
  }
  if (!reading.has("model.head_dim") && m.mla.kv_rank > 0) {
    m.head_dim = m.mla.nope_dim + m.mla.rope_dim;
  } else if (!reading.has("model.head_dim")) {
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
    m.causal = m.architecture != Architecture::encoder;
  }
  if (!reading.has("model.embedding_width")) {
    m.embedding_width = m.hidden;
  }
  if (!reading.has("model.layer_norms")) {
    m.layer_norms = m.parallel_block ? 1 : 2;
  }
  if (!reading.has("model.vocabulary_head")) {
    m.vocabulary_head = m.architecture != Architecture::encoder || m.mlm_head;
  }
  if (!reading.has("model.decoder_layers")) {
    m.decoder_layers = m.architecture == Architecture::encoder_decoder ? m.layers : 0;
  }
  if (!reading.has("model.moe.ffn_hidden")) {
    m.moe.ffn_hidden = m.ffn_hidden;
  }
  if (!reading.has("model.moe.shared_ffn_hidden")) {
    m.moe.shared_ffn_hidden = m.moe.shared * m.moe.ffn_hidden;
  }
}

using Wrong = std::function<void(const char*, std::string, std::string)>;

constexpr std::int64_t widest_attention = 4000000;

/// Rising numbers of layers that exist: what looks them up relies on it.
void check_layer_list(const Transformer& m, const std::vector<std::int64_t>& layers,
                      const char* key, const Wrong& wrong) {
  const bool rising =
      std::ranges::adjacent_find(layers, std::ranges::greater_equal{}) == layers.end();
  if (!rising || (!layers.empty() && (layers.front() < 0 || layers.back() >= m.layers))) {
    wrong(key, "the list of layers is not rising, or names a layer that is not there",
          "rising numbers from 0 to " + std::to_string(m.layers - 1));
  }
}

void check_experts(const Transformer& m, const Wrong& wrong) {
  const MixtureOfExperts& e = m.moe;
  if (e.experts == 0) {
    if (e.top_k > 0 || e.shared > 0) {
      wrong("model.moe.top_k", "a mixture without experts", "moe.experts above 0");
    }
    return;
  }
  if (e.top_k < 1 || e.top_k > e.experts) {
    wrong("model.moe.top_k",
          "a token goes to " + std::to_string(e.top_k) + " of " + std::to_string(e.experts) +
              " experts",
          "from 1 to " + std::to_string(e.experts));
  }
  check_layer_list(m, e.dense_layers, "model.moe.dense_layers", wrong);
  if (e.dense_first + e.interval > m.layers || expert_layers(m) < 1) {
    wrong("model.moe.dense_first", "no layer has experts",
          "dense_first + interval at most " + std::to_string(m.layers) +
              ", and dense_layers that leave some");
  }
  if (m.architecture == Architecture::encoder_decoder) {
    wrong("model.moe.experts", "an encoder-decoder with experts", "a decoder or an encoder");
  }
  // Each number is bounded; their product must stay countable too.
  constexpr double most = 1e16;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  if (3.0 * real(m.layers) * real(e.experts) * real(m.hidden) * real(e.ffn_hidden) > most) {
    wrong("model.moe.experts", "more than 10,000 million million parameters", "fewer experts");
  }
  if (e.shared_ffn_hidden > widest_attention) {
    wrong("model.moe.shared", "the shared experts are too wide", "at most 4,000,000 together");
  }
}

void check_latent(const Transformer& m, const Wrong& wrong) {
  const LatentAttention& a = m.mla;
  if (a.kv_rank == 0) {
    if (a.q_rank > 0 || a.nope_dim > 0 || a.rope_dim > 0 || a.value_dim > 0) {
      wrong("model.mla.q_rank", "latent attention without a latent", "mla.kv_rank above 0");
    }
    return;
  }
  if (a.nope_dim + a.rope_dim < 1 || a.value_dim < 1) {
    wrong("model.mla.kv_rank", "latent attention needs widths of its heads",
          "mla.nope_dim, mla.rope_dim and mla.value_dim");
  } else if (a.nope_dim + a.rope_dim != m.head_dim) {
    wrong("model.head_dim",
          "head_dim " + std::to_string(m.head_dim) + " is not mla.nope_dim + mla.rope_dim",
          std::to_string(a.nope_dim + a.rope_dim));
  } else if (m.heads * (a.nope_dim + a.rope_dim + a.value_dim) > widest_attention) {
    wrong("model.heads", "heads times their width is out of range", "at most 4,000,000");
  }
}

void check_stacks(const Transformer& m, const Wrong& wrong) {
  const bool both = m.architecture == Architecture::encoder_decoder;
  if (both != (m.decoder_layers > 0)) {
    wrong("model.decoder_layers",
          both ? "an encoder-decoder without decoder layers" : "decoder layers in one stack",
          both ? "at least 1" : "architecture = \"encoder-decoder\"");
  }
  if (m.position == PositionKind::relative && m.relative_buckets == 0) {
    wrong("model.position", "relative positions need 'relative_buckets'",
          "relative_buckets = rows of the table");
  }
  if ((m.full_every > 0 || !m.full_layers.empty()) && m.window == 0) {
    wrong(m.full_every > 0 ? "model.full_every" : "model.full_layers",
          "every layer sees all keys without a window", "model.window");
  }
  check_layer_list(m, m.full_layers, "model.full_layers", wrong);
  if (m.mlm_head && !m.vocabulary_head) {
    wrong("model.vocabulary_head", "a masked-token head without a vocabulary", "true");
  }
}

void check_model(const Transformer& m, const Reading& reading, Diagnostics& out) {
  const bool clean = !out.has_errors();
  const Wrong wrong = [&](const char* key, std::string message, std::string expected) {
    out.add(diagnose(reading.place_of(key), std::move(message), std::move(expected)));
  };
  check_experts(m, wrong);
  check_latent(m, wrong);
  check_stacks(m, wrong);
  if (m.heads % m.kv_heads != 0) {
    wrong("model.kv_heads",
          "heads " + std::to_string(m.heads) + " are not divisible by kv_heads " +
              std::to_string(m.kv_heads),
          "a divisor of heads");
  }
  if (m.head_dim < 1 || m.heads * m.head_dim > widest_attention) {
    wrong("model.head_dim", "heads x head_dim is out of range", "from 1 to 4,000,000");
  }
  if (m.position == PositionKind::learned && m.max_positions == 0) {
    wrong("model.position", "learned positions need 'max_positions'",
          "max_positions = rows of the table, or position = \"rotary\", \"alibi\" or \"none\"");
  }
  if (m.published_parameters && clean && !out.has_errors()) {
    const std::int64_t ours = count_parameters(m).total;
    if (ours != *m.published_parameters) {
      wrong("model.published_parameters",
            "these shapes have " + std::to_string(ours) + " parameters, the checkpoint " +
                std::to_string(*m.published_parameters),
            "equal numbers");
    }
  }
}

/// A rule for matrices differs from the rule for all only in what it says.
void fill_matrices(Optimizer& optimizer, const Reading& reading, Diagnostics& /*out*/) {
  const UpdateWork given = optimizer.matrices;
  optimizer.matrices = optimizer.update;
  const auto keep = [&](const char* key, auto member) {
    if (reading.has(std::string("matrices.") + key)) optimizer.matrices.*member = given.*member;
  };
  keep("gradient_moves", &UpdateWork::gradient_moves);
  keep("weight_moves", &UpdateWork::weight_moves);
  keep("state_moves", &UpdateWork::state_moves);
  keep("extra_bytes", &UpdateWork::extra_bytes);
  keep("flops", &UpdateWork::flops);
  keep("kernels_per_tensor", &UpdateWork::kernels_per_tensor);
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

std::optional<Optimizer> load(Loading& loading, const Name& name, Optimizer) {
  const auto found = open_named(loading, Kind::optimizer, name);
  if (!found) {
    return std::nullopt;
  }
  return read_whole(loading, optimizer_schema(), found->tree, found->id, fill_matrices);
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
