#pragma once
// What one rank holds and works on: the sizes of a micro-batch on one tensor-parallel shard, and
// its share of the parameters. Widths that do not divide are rounded up, as the padded shard is.

#include "spec/scenario.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clustersim {

struct Shard {
  std::int64_t tensor = 1;
  bool sequence_parallel = false; // and tensor > 1
  std::int64_t batch = 0;         // sequences of a micro-batch
  std::int64_t sequence = 0;
  std::int64_t context = 1;      // ranks that share a sequence
  std::int64_t queries = 0;      // tokens of a sequence on this rank
  std::int64_t tokens = 0;       // of a micro-batch on this rank
  std::int64_t local_tokens = 0; // of them, where norms and residuals run: ÷ tensor under SP
  std::int64_t hidden = 0;
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t query_width = 0; // heads · head_dim
  std::int64_t key_width = 0;   // kv_heads · head_dim
  std::int64_t value_width = 0; // the same unless latent attention has narrower values
  std::int64_t core_width = 0;  // what attention hands to its output projection
  std::int64_t latent = 0;      // latent attention: what its down projections make of a token
  bool causal = true;           // a token sees only what came before
  std::int64_t window = 0;      // keys that a query sees; 0: all
  std::int64_t document = 0;    // tokens of each document that a sequence is made of
  std::int64_t source = 0; // of an encoder's tokens that a decoder's queries see; 0: no encoder
  std::int64_t ffn = 0;    // input of the down projection
  std::int64_t up = 0;     // output of the up (and gate) projection
  std::int64_t vocabulary = 0;
  Precision matmul = Precision::bf16;     // operands of the layers' GEMMs
  Precision activation = Precision::bf16; // what stays in memory; attention and head run in it
  Bytes element;                          // of the activation type
  Bytes weight;        // of the layers' matrices where stored narrower than `matmul`; 0 = as it
  bool serves = false; // inference: no gradients follow
  bool decode = false; // of it: one token per sequence, keys and values lie in a cache

  [[nodiscard]] std::int64_t qkv_width() const { return query_width + key_width + value_width; }
};

/// Sizes multiply as doubles: inputs are bounded one by one, their products are not.
[[nodiscard]] constexpr double elements(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}
/// Hidden states of a micro-batch, whole and where norms and residuals run; scores of its queries
/// and so many keys.
[[nodiscard]] double hidden_elements(const Shard& shard);
[[nodiscard]] double local_hidden_elements(const Shard& shard);
[[nodiscard]] double score_elements(const Shard& shard, std::int64_t keys);
/// Hidden states as the tensor-parallel collectives carry them.
[[nodiscard]] Bytes hidden_payload(const Shard& shard);

[[nodiscard]] Shard shard_of(const Scenario& scenario);
/// Tokens of a micro-batch, and this rank's where norms and residuals run.
void set_tokens(Shard& shard, std::int64_t tokens);

/// Kinds of layers: with an MLP or with experts, with all keys or those of a window; a decoder's
/// layer that also looks at an encoder's output.
enum class LayerKind { dense, experts, window_dense, window_experts, cross };
inline constexpr std::array layer_kinds{LayerKind::dense, LayerKind::experts,
                                        LayerKind::window_dense, LayerKind::window_experts,
                                        LayerKind::cross};
[[nodiscard]] constexpr bool has_experts(LayerKind kind) {
  return kind == LayerKind::experts || kind == LayerKind::window_experts;
}
[[nodiscard]] constexpr bool is_windowed(LayerKind kind) {
  return kind == LayerKind::window_dense || kind == LayerKind::window_experts;
}
/// Of a layer of the only stack, or of the encoder, counted from 0.
[[nodiscard]] LayerKind kind_of(const Scenario& scenario, std::int64_t layer);
/// `shard` as a layer of this kind sees it: its window, its sequence.
[[nodiscard]] Shard shard_for(const Scenario& scenario, Shard shard, LayerKind kind);
/// The same for the head: of an encoder-decoder, the decoder's tokens.
[[nodiscard]] Shard shard_for_head(const Scenario& scenario, const Shard& shard);
/// Of the shard's tokens, those that the vocabulary head works on.
[[nodiscard]] std::int64_t scored_tokens(const Scenario& scenario, const Shard& shard);

/// The same in as many pieces as have logits one after another.
[[nodiscard]] std::vector<Shard> scored_pieces(const Scenario& scenario, const Shard& shard);

/// Of the s × s pairs of a query and a key, those that are not masked: half of them when causal,
/// and with a window of W keys W/s − W²/2s² (docs/explanation/attention.md).
[[nodiscard]] double seen_share(double sequence, std::int64_t window, bool causal);

/// Activations of 8- and 4-bit training stay in BF16, TF32 is stored as FP32.
[[nodiscard]] Precision activation_type(Precision training);

/// Fused attention kernels exist for 16-bit operands only.
[[nodiscard]] bool attention_is_fused(const Scenario& scenario);

/// Of one element of a layer's matrices when serving, its share of a scale included.
[[nodiscard]] Bytes stored_weight(const Inference& serving);

/// Width of the token tables.
[[nodiscard]] std::int64_t table_width(const Transformer& model);

/// Decoders always score the vocabulary, an encoder only with its masked-language head.
[[nodiscard]] bool has_vocabulary_head(const Transformer& model);

/// Whether a recipe's kernel of this condition runs in this training.
[[nodiscard]] bool runs(KernelCondition when, const Scenario& scenario);

/// Weights under autocast stay FP32 and are cast before each use: a recipe that casts them says so.
[[nodiscard]] bool keeps_fp32_weights(const Scenario& scenario);
[[nodiscard]] Bytes weight_element(const Scenario& scenario);
[[nodiscard]] Bytes gradient_element(const Scenario& scenario);

[[nodiscard]] bool trains_embedding(const Scenario& scenario);
[[nodiscard]] bool trains_head(const Scenario& scenario);

/// Parameters apart by the ranks that hold the same ones.
struct Held {
  double dense = 0, experts = 0; // experts: the routed ones
  [[nodiscard]] double total() const { return dense + experts; }
  friend Held operator+(Held a, Held b) { return {a.dense + b.dense, a.experts + b.experts}; }
  friend Held operator*(double count, Held each) {
    return {count * each.dense, count * each.experts};
  }
};

/// Parameters on one tensor-parallel rank. Vectors that every shard needs whole (norms, biases of
/// the row-parallel outputs, position tables, pooler) are replicated; so are K and V when there are
/// fewer K/V heads than ranks.
struct LocalParameters {
  double embedding = 0, per_layer = 0, head = 0, total = 0;
  double layer_norms = 0;         // of per_layer: norm weights and biases
  Held prediction;                // one multi-token prediction module with its layer
  double largest_weight = 0;      // of a layer, one matrix
  Held layer[layer_kinds.size()]; // by kind
  [[nodiscard]] Held of(LayerKind kind) const { return layer[static_cast<std::size_t>(kind)]; }
};
[[nodiscard]] LocalParameters local_parameters(const Scenario& scenario);

/// By how many ranks ZeRO divides each kind of model state.
struct ShardedStates {
  double weights = 1, gradients = 1, optimizer = 1;
};
[[nodiscard]] ShardedStates sharded_states(const Scenario& scenario);
/// The same of routed experts, which fewer ranks hold alike.
[[nodiscard]] ShardedStates sharded_experts(const Scenario& scenario);
/// What is left of `held` on a rank: `states` picks the kind of state.
[[nodiscard]] double sharded(const Scenario& scenario, Held held, double ShardedStates::*states);

} // namespace clustersim
