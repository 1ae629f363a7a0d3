#pragma once
// A transformer's shape (models/transformers/*.toml). Counting rules:
// docs/explanation/parameters.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

enum class Architecture { decoder, encoder, encoder_decoder };
enum class NormKind { layer_norm, rms_norm };
enum class PositionKind { learned, rotary, alibi, relative, none };
enum class Activation { gelu, relu, silu };
/// Norms of queries and keys before their product: none, one weight per width of a head that all
/// heads share (Qwen 3), or over the whole width (OLMo 2).
enum class QueryKeyNorm { none, head, width };

/// Layers whose MLP is a router and experts. Of the layers after `dense_first`, every `interval`-th
/// has them.
struct MixtureOfExperts {
  std::int64_t experts = 0; // routed ones; 0: a dense model
  std::int64_t top_k = 0;   // of them that work on a token
  std::int64_t ffn_hidden = 0;
  std::int64_t shared = 0;            // experts that work on every token
  std::int64_t shared_ffn_hidden = 0; // width of the shared ones together
  std::int64_t dense_first = 0, interval = 1;
  std::vector<std::int64_t> dense_layers; // more layers without experts, counted from 0, rising
  double capacity_factor = 0;             // 0: dropless
  bool router_bias = false;
  bool shared_gate = false; // the shared output is scaled by a gate of its own (Qwen 2 MoE)
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): keys and values are rebuilt from a
/// latent of `kv_rank`, queries too where `q_rank` is given. A head of q and k is nope + rope wide.
struct LatentAttention {
  std::int64_t kv_rank = 0; // 0: ordinary attention
  std::int64_t q_rank = 0;  // 0: queries come straight from the hidden state
  std::int64_t nope_dim = 0, rope_dim = 0, value_dim = 0;
};

struct Transformer {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string note;
  Architecture architecture = Architecture::decoder;
  std::int64_t layers = 0;         // of the encoder where there are both
  std::int64_t decoder_layers = 0; // of an encoder-decoder
  std::int64_t hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn_hidden = 0;
  std::int64_t vocabulary = 0;    // rows of the embedding as trained, padding included
  std::int64_t max_positions = 0; // rows of a learned position table
  std::int64_t token_types = 0;   // BERT segment embeddings
  std::int64_t embedding_width =
      0; // of the tables; projected to `hidden` where it differs; 0: hidden
  std::int64_t relative_buckets = 0; // T5: rows of a table of biases per head, one table per stack
  MixtureOfExperts moe;
  LatentAttention mla;
  QueryKeyNorm qk_norm = QueryKeyNorm::none;
  std::int64_t window = 0;               // keys that a query sees; 0: all
  std::int64_t full_every = 0;           // with a window: every so many layers one without; 0: none
  std::vector<std::int64_t> full_layers; // more layers without the window, from 0, rising
  bool attention_sinks = false;          // a learned logit per head (GPT-OSS)
  std::int64_t mtp_layers = 0;           // multi-token prediction modules, as DeepSeek-V3 has them
  bool gated_mlp = false;                // SwiGLU-like: gate and up projections
  Activation activation = Activation::gelu;
  NormKind norm = NormKind::layer_norm;
  PositionKind position = PositionKind::learned;
  bool tied_embeddings = false; // head shares the embedding's weights
  bool attention_bias = false;  // on q, k, v
  bool projection_bias = false; // on the attention output
  bool mlp_bias = false;
  bool final_norm = true;       // one more norm after the last layer
  bool embedding_norm = false;  // BLOOM, BERT
  bool norm_bias = true;        // a LayerNorm has a bias vector beside its weight
  bool norm_weight = true;      // OLMo 1 has norms without weights
  std::int64_t layer_norms = 2; // norms of a layer on the residual stream's width
  bool parallel_block = false;  // attention and MLP side by side
  bool head_bias = false;       // on the vocabulary head
  bool causal = true;
  bool pooler = false;                  // BERT's dense pooler
  std::int64_t sequence_classes = 0;    // rows of a classifier: next-sentence head, reward model
  bool class_bias = true;               // on the classifier
  bool mlm_head = false;                // BERT's transform + norm + vocabulary bias
  bool vocabulary_head = true;          // false: the body alone, as under a classifier
  std::int64_t tower_parameters = 0;    // of the checkpoint's other parts: a vision tower
  std::int64_t sequence_default = 2048; // what it was trained at
  std::optional<std::int64_t> published_parameters; // exact count of the public checkpoint
};

struct ParameterCount {
  std::int64_t embedding = 0;     // token, position and type tables, their norm and projection
  std::int64_t tables = 0;        // of embedding: the tables alone
  std::int64_t per_layer = 0;     // one dense layer (of an encoder-decoder: of the encoder)
  std::int64_t moe_layer = 0;     // one layer with experts
  std::int64_t expert = 0;        // one routed expert
  std::int64_t decoder_layer = 0; // one layer with cross-attention
  std::int64_t mtp = 0;           // all multi-token prediction modules
  std::int64_t head = 0;          // untied head, final norms, pooler, MLM head
  std::int64_t total = 0;
  std::int64_t active = 0; // total without the experts that a token is not routed to
};

/// Exact: integer-equal to the public checkpoint where there is one (tests/oracle).
[[nodiscard]] ParameterCount count_parameters(const Transformer& model);
/// Layers, of a stack of `model.layers`, that have experts.
[[nodiscard]] std::int64_t expert_layers(const Transformer& model);
/// Layers are counted from 0.
[[nodiscard]] bool has_experts(const Transformer& model, std::int64_t layer);
/// Whether the window hides keys from a query of this layer in a sequence of this length.
[[nodiscard]] bool is_windowed(const Transformer& model, std::int64_t layer, std::int64_t sequence);

/// Of both stacks.
[[nodiscard]] inline std::int64_t all_layers(const Transformer& model) {
  return model.layers + model.decoder_layers;
}

/// Rows of the vocabulary when `tensor` ranks share it: as they are where that divides, else the
/// next multiple of 128 x tensor (Megatron-LM, make_vocab_size_divisible_by).
[[nodiscard]] std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

} // namespace clustersim
