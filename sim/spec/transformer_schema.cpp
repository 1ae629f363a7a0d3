#include "spec/schemas.hpp"

namespace clustersim {
namespace {

// Products of four of these stay far below 2^63.
constexpr double most_layers = 10000, widest = 1e6, most_words = 1e8, longest = 1e8;

using T = Transformer;

void add_shape(Schema<T>& s) {
  add_choice(
      s, "model.architecture", at(&T::architecture),
      Choices<Architecture>{{"decoder", Architecture::decoder}, {"encoder", Architecture::encoder}},
      "which half of the original transformer")
      .because("most models are");
  add(s, "model.layers", at(&T::layers), "transformer layers").required().between(1, most_layers);
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
  add(s, "model.parallel_block", at(&T::parallel_block), "attention and MLP side by side, one norm")
      .because(usual);
  add(s, "model.causal", at(&T::causal), "tokens see only what came before")
      .derived("true for a decoder, false for an encoder");
  add(s, "model.pooler", at(&T::pooler), "BERT's dense pooler").because(usual);
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
    add_kinds(s);
    add_flags(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
