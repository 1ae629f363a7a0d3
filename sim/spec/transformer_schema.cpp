#include "spec/schemas.hpp"

namespace clustersim {
namespace {

// Products of four of these stay far below 2^63.
constexpr double most_layers = 10000, widest = 1e6, most_words = 1e8, longest = 1e8;

using T = Transformer;

void add_shape(Schema<T>& s) {
  add_choice(s, "model.architecture", at(&T::architecture),
             Choices<Architecture>{{"decoder", Architecture::decoder},
                                   {"encoder", Architecture::encoder},
                                   {"encoder-decoder", Architecture::encoder_decoder}},
             "which halves of the original transformer")
      .because("most models are");
  add(s, "model.layers", at(&T::layers), "transformer layers; of the encoder where there are both")
      .required()
      .between(1, most_layers);
  add(s, "model.decoder_layers", at(&T::decoder_layers), "layers of an encoder-decoder's decoder")
      .between(0, most_layers)
      .derived("as many as layers in an encoder-decoder, else 0");
  add(s, "model.hidden", at(&T::hidden), "width of the residual stream")
      .required()
      .between(1, widest);
  add(s, "model.heads", at(&T::heads), "query heads").required().between(1, 10000);
  add(s, "model.kv_heads", at(&T::kv_heads), "key and value heads; fewer = grouped queries")
      .between(1, 10000)
      .derived("as many as heads");
  add(s, "model.head_dim", at(&T::head_dim), "width of a head")
      .between(1, 65536)
      .derived("hidden / heads");
  add(s, "model.ffn_hidden", at(&T::ffn_hidden), "width inside the MLP")
      .between(1, 4e6)
      .derived("4 times hidden");
  add(s, "model.embedding_width", at(&T::embedding_width),
      "width of the token table; projected to hidden where it differs")
      .between(1, widest)
      .derived("hidden");
  add(s, "model.vocabulary", at(&T::vocabulary), "rows of the embedding, padding included")
      .required()
      .between(1, most_words);
  add(s, "model.max_positions", at(&T::max_positions), "rows of a learned position table")
      .between(0, longest)
      .because("no such table");
  add(s, "model.token_types", at(&T::token_types), "rows of BERT's segment table")
      .between(0, 1024)
      .because("no such table");
  add(s, "model.sequence_default", at(&T::sequence_default), "what it was trained at")
      .between(1, longest)
      .length()
      .because("not stated");
  add(s, "model.published_parameters", at(&T::published_parameters),
      "exact count of the public checkpoint; our own must equal it")
      .between(1, 1e16);
}

void add_experts(Schema<T>& s) {
  using E = MixtureOfExperts;
  const std::string dense = "a dense model";
  add(s, "model.moe.experts", at(&T::moe, &E::experts), "routed experts of a layer")
      .between(0, 10000)
      .because(dense);
  add(s, "model.moe.top_k", at(&T::moe, &E::top_k), "experts that work on a token")
      .between(0, 10000)
      .because(dense);
  add(s, "model.moe.ffn_hidden", at(&T::moe, &E::ffn_hidden), "width inside a routed expert")
      .between(1, 4e6)
      .derived("ffn_hidden");
  add(s, "model.moe.shared", at(&T::moe, &E::shared), "experts that work on every token")
      .between(0, 10000)
      .because("most models");
  add(s, "model.moe.shared_ffn_hidden", at(&T::moe, &E::shared_ffn_hidden),
      "width inside the shared experts together")
      .between(0, 4e6)
      .derived("shared times moe.ffn_hidden");
  add(s, "model.moe.dense_first", at(&T::moe, &E::dense_first),
      "layers before the first with experts")
      .between(0, most_layers)
      .because("most models");
  add(s, "model.moe.interval", at(&T::moe, &E::interval), "every so many layers one has experts")
      .between(1, most_layers)
      .because("most models");
  add(s, "model.moe.dense_layers", at(&T::moe, &E::dense_layers),
      "more layers without experts, counted from 0")
      .between(0, most_layers)
      .because("no others");
  add(s, "model.moe.capacity_factor", at(&T::moe, &E::capacity_factor),
      "tokens that an expert takes over its even share; 0: no token is dropped")
      .between(0, 1000)
      .because("dropless");
  add(s, "model.moe.router_bias", at(&T::moe, &E::router_bias), "bias on the router")
      .because("most models");
  add(s, "model.moe.shared_gate", at(&T::moe, &E::shared_gate),
      "a gate of its own scales the shared experts")
      .because("most models");
}

void add_latent(Schema<T>& s) {
  using L = LatentAttention;
  const std::string ordinary = "ordinary attention";
  add(s, "model.mla.kv_rank", at(&T::mla, &L::kv_rank), "latent that keys and values come from")
      .between(0, widest)
      .because(ordinary);
  add(s, "model.mla.q_rank", at(&T::mla, &L::q_rank), "latent that queries come from; 0: none")
      .between(0, widest)
      .because(ordinary);
  add(s, "model.mla.nope_dim", at(&T::mla, &L::nope_dim), "width of a head without positions")
      .between(0, 65536)
      .because(ordinary);
  add(s, "model.mla.rope_dim", at(&T::mla, &L::rope_dim), "width of a head that is rotated")
      .between(0, 65536)
      .because(ordinary);
  add(s, "model.mla.value_dim", at(&T::mla, &L::value_dim), "width of a value head")
      .between(0, 65536)
      .because(ordinary);
}

void add_attention(Schema<T>& s) {
  add_choice(s, "model.qk_norm", at(&T::qk_norm),
             Choices<QueryKeyNorm>{{"none", QueryKeyNorm::none},
                                   {"head", QueryKeyNorm::head},
                                   {"width", QueryKeyNorm::width}},
             "norms of queries and keys: per head, or over the whole width")
      .because("most models");
  add(s, "model.window", at(&T::window), "keys that a query sees; 0: all")
      .between(0, longest)
      .length()
      .because("full attention");
  add(s, "model.full_every", at(&T::full_every),
      "with a window: every so many layers one sees all keys; 0: none does")
      .between(0, most_layers)
      .because("no such layers");
  add(s, "model.full_layers", at(&T::full_layers),
      "with a window: more layers that see all keys, counted from 0")
      .between(0, most_layers)
      .because("no others");
  add(s, "model.attention_sinks", at(&T::attention_sinks),
      "a learned logit per head in the softmax")
      .because("most models");
  add(s, "model.relative_buckets", at(&T::relative_buckets),
      "rows of T5's table of position biases")
      .between(0, 1e6)
      .because("no such table");
  add(s, "model.mtp_layers", at(&T::mtp_layers), "multi-token prediction modules")
      .between(0, 64)
      .because("most models");
}

void add_kinds(Schema<T>& s) {
  add(s, "model.gated_mlp", at(&T::gated_mlp), "gate and up projections, as in SwiGLU")
      .because("plain MLP");
  add_choice(s, "model.activation", at(&T::activation),
             Choices<Activation>{{"gelu", Activation::gelu},
                                 {"relu", Activation::relu},
                                 {"silu", Activation::silu}},
             "between the MLP's matrices")
      .because("most models before 2023");
  add_choice(s, "model.norm", at(&T::norm),
             Choices<NormKind>{{"layer", NormKind::layer_norm}, {"rms", NormKind::rms_norm}},
             "kind of normalisation")
      .because("most models before 2023");
  add_choice(s, "model.position", at(&T::position),
             Choices<PositionKind>{{"learned", PositionKind::learned},
                                   {"rotary", PositionKind::rotary},
                                   {"alibi", PositionKind::alibi},
                                   {"relative", PositionKind::relative},
                                   {"none", PositionKind::none}},
             "how positions enter")
      .because("most models before 2023");
}

void add_flags(Schema<T>& s) {
  const std::string usual = "most models";
  add(s, "model.tied_embeddings", at(&T::tied_embeddings), "the head shares the embedding")
      .because(usual);
  add(s, "model.attention_bias", at(&T::attention_bias), "bias on q, k, v").because(usual);
  add(s, "model.projection_bias", at(&T::projection_bias), "bias on the attention output")
      .because(usual);
  add(s, "model.mlp_bias", at(&T::mlp_bias), "bias in the MLP").because(usual);
  add(s, "model.final_norm", at(&T::final_norm), "a norm after the last layer").because(usual);
  add(s, "model.embedding_norm", at(&T::embedding_norm), "a norm after the embedding")
      .because(usual);
  add(s, "model.norm_bias", at(&T::norm_bias), "a layer norm has a bias beside its weight")
      .because(usual);
  add(s, "model.norm_weight", at(&T::norm_weight), "norms have weights").because(usual);
  add(s, "model.parallel_block", at(&T::parallel_block), "attention and MLP side by side")
      .because(usual);
  add(s, "model.layer_norms", at(&T::layer_norms), "norms of a layer, as wide as hidden")
      .between(1, 8)
      .derived("2; 1 in a parallel block");
  add(s, "model.head_bias", at(&T::head_bias), "bias on the vocabulary head").because(usual);
  add(s, "model.causal", at(&T::causal), "tokens see only what came before")
      .derived("true for a decoder, false for an encoder");
  add(s, "model.pooler", at(&T::pooler), "BERT's dense pooler").because(usual);
  add(s, "model.sequence_classes", at(&T::sequence_classes),
      "outputs of a classifier, such as BERT's next-sentence head or a reward model's score")
      .between(0, most_words)
      .because(usual);
  add(s, "model.class_bias", at(&T::class_bias), "bias on the classifier").because(usual);
  add(s, "model.vocabulary_head", at(&T::vocabulary_head),
      "hidden states are scored against the vocabulary; false: the body of the model alone")
      .derived("true; in an encoder as mlm_head");
  add(s, "model.tower_parameters", at(&T::tower_parameters),
      "parameters of the checkpoint's other parts, such as a vision tower")
      .between(0, 1e15)
      .because("most models");
  add(s, "model.mlm_head", at(&T::mlm_head), "BERT's masked-token head").because(usual);
}

} // namespace

const Schema<T>& transformer_schema() {
  static const Schema<T> schema = [] {
    Schema<T> s{"transformer",
                "A transformer (models/transformers), or the inline keys of [model] in a scenario",
                {}};
    add_identity(
        s, [](auto& model) -> auto& { return model; });
    add_shape(s);
    add_attention(s);
    add_latent(s);
    add_experts(s);
    add_kinds(s);
    add_flags(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
