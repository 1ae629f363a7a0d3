#pragma once
// A transformer's shape (models/transformers/*.toml). Counting rules:
// docs/explanation/parameters.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

enum class Architecture { decoder, encoder }; // encoder_decoder comes with its first model
enum class NormKind { layer_norm, rms_norm };
enum class PositionKind { learned, rotary, alibi, none };
enum class Activation { gelu, relu, silu };

struct Transformer {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string note;
  Architecture architecture = Architecture::decoder;
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn_hidden = 0;
  std::int64_t vocabulary = 0;    // rows of the embedding as trained, padding included
  std::int64_t max_positions = 0; // rows of a learned position table
  std::int64_t token_types = 0;   // BERT segment embeddings
  bool gated_mlp = false;         // SwiGLU-like: gate and up projections
  Activation activation = Activation::gelu;
  NormKind norm = NormKind::layer_norm;
  PositionKind position = PositionKind::learned;
  bool tied_embeddings = false; // head shares the embedding's weights
  bool attention_bias = false;  // on q, k, v
  bool projection_bias = false; // on the attention output
  bool mlp_bias = false;
  bool final_norm = true;      // one more norm after the last layer
  bool embedding_norm = false; // BLOOM, BERT
  bool norm_bias = true;       // a LayerNorm has a bias vector beside its weight
  bool parallel_block = false; // attention and MLP side by side, one norm
  bool causal = true;
  bool pooler = false;                              // BERT's dense pooler
  bool mlm_head = false;                            // BERT's transform + norm + vocabulary bias
  std::int64_t sequence_default = 2048;             // what it was trained at
  std::optional<std::int64_t> published_parameters; // exact count of the public checkpoint
};

struct ParameterCount {
  std::int64_t embedding = 0; // token, position and type tables
  std::int64_t per_layer = 0; // one layer
  std::int64_t head = 0;      // untied head, final norm, pooler, MLM head
  std::int64_t total = 0;
};

/// Exact: integer-equal to the public checkpoint where there is one (tests/oracle).
[[nodiscard]] ParameterCount count_parameters(const Transformer& model);

/// Rows of the vocabulary when `tensor` ranks share it: as they are where that divides, else the
/// next multiple of 128 x tensor (Megatron-LM, make_vocab_size_divisible_by).
[[nodiscard]] std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor);

} // namespace clustersim
