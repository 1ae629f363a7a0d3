#include "plan/layer.hpp"

namespace clustersim {

namespace {

/// Weights cut along their output: every rank reads the whole input (its own part under SP).
Linear column_parallel(const Shard& shard, const char* name, std::int64_t out, double whole_out) {
  return {.name = name,
          .tokens = shard.tokens,
          .in = shard.hidden,
          .out = out,
          .precision = shard.matmul,
          .stored_narrow = shard.serves,
          .model_flops = linear_flops(shard, static_cast<double>(shard.hidden), whole_out),
          .input_elements = elements(shard.local_tokens, shard.hidden),
          .output_elements = elements(shard.tokens, out),
          .out_parts = shard.tensor};
}

/// Weights cut along their input: the outputs are summed over ranks.
Linear row_parallel(const Shard& shard, const char* name, std::int64_t in, double whole_in) {
  return {.name = name,
          .tokens = shard.tokens,
          .in = in,
          .out = shard.hidden,
          .precision = shard.matmul,
          .stored_narrow = shard.serves,
          .model_flops = linear_flops(shard, whole_in, static_cast<double>(shard.hidden)),
          .input_elements = elements(shard.tokens, in),
          .output_elements = elements(shard.local_tokens, shard.hidden),
          .in_parts = shard.tensor};
}

/// DeepSeek-V2 (arXiv 2405.04434), section 2.1. The down projections are whole on every rank, which
/// works on its own tokens; without a latent for queries these come from the hidden state.
void add_latent(LayerLinears& out, const Transformer& model, const Shard& shard) {
  const LatentAttention& mla = model.mla;
  const double query = elements(model.heads, model.head_dim);
  const double rebuilt = elements(model.heads, mla.nope_dim + mla.value_dim);
  const bool direct = mla.q_rank == 0;
  out.latent = column_parallel(shard, "latent down projection", shard.latent,
                               static_cast<double>(shard.latent));
  if (!shard.serves) out.latent.tokens = (shard.tokens + shard.tensor - 1) / shard.tensor;
  out.queries = column_parallel(shard, "query up projection", shard.query_width, query);
  out.keys = column_parallel(shard, "key and value up projection",
                             shard.heads * (mla.nope_dim + mla.value_dim), rebuilt);
  const auto from = [&](Linear& linear, std::int64_t in, double whole) {
    linear.in = in;
    linear.model_flops = linear_flops(shard, static_cast<double>(in), whole);
    linear.input_elements = elements(shard.tokens, in);
  };
  if (!direct) from(out.queries, mla.q_rank, query);
  from(out.keys, mla.kv_rank, rebuilt);
  out.latent.out_parts = 1;
  out.latent.parts = {{Matrix::latent, out.latent.out}};
  out.queries.parts = {{Matrix::query, out.queries.out}};
  out.keys.parts = {{Matrix::key, out.keys.out}};
}

/// Which matrices stand side by side in an MLP's products.
void name_mlp(Linear& up, Linear& down, bool gated) {
  const std::int64_t width = gated ? up.out / 2 : up.out;
  if (gated) up.parts.push_back({Matrix::gate, width});
  up.parts.push_back({Matrix::up, width});
  down.parts = {{Matrix::down, down.out}};
}

} // namespace

MlpLinears mlp_linears(const Scenario& scenario, const Shard& shard, std::int64_t width) {
  const Transformer& model = scenario.model;
  const std::int64_t local = (width + shard.tensor - 1) / shard.tensor;
  const double ffn = static_cast<double>(width);
  MlpLinears out{
      .up = column_parallel(shard, model.gated_mlp ? "gate and up projection" : "up projection",
                            local * (model.gated_mlp ? 2 : 1), model.gated_mlp ? 2.0 * ffn : ffn),
      .down = row_parallel(shard, "down projection", local, ffn)};
  name_mlp(out.up, out.down, model.gated_mlp);
  return out;
}

Flops linear_flops(const Shard& shard, double in, double out) {
  return Flops{2.0 * static_cast<double>(shard.tokens) * in * out /
               static_cast<double>(shard.tensor)};
}

std::int64_t source_tokens(const Shard& shard) {
  return shard.batch * shard.source;
}

double source_elements(const Shard& shard) {
  return elements(source_tokens(shard), shard.hidden);
}

CrossLinears cross_linears(const Scenario& scenario, const Shard& shard) {
  const Transformer& model = scenario.model;
  const double query = elements(model.heads, model.head_dim);
  const double pairs = 2.0 * elements(model.kv_heads, model.head_dim);
  Shard source = shard;
  set_tokens(source, source_tokens(shard));
  CrossLinears out{.queries = column_parallel(shard, "query projection", shard.query_width, query),
                   .keys = column_parallel(source, "projection of encoder's output",
                                           shard.key_width + shard.value_width, pairs),
                   .projection = row_parallel(shard, "cross-attention output projection",
                                              shard.core_width, query)};
  out.queries.parts = {{Matrix::query, shard.query_width}};
  out.keys.parts = {{Matrix::key, shard.key_width}, {Matrix::value, shard.value_width}};
  out.projection.parts = {{Matrix::output, shard.hidden}};
  return out;
}

LayerLinears layer_linears(const Scenario& scenario, const Shard& shard) {
  const Transformer& model = scenario.model;
  const double query = elements(model.heads, model.head_dim);
  const double key = elements(model.kv_heads, model.head_dim);
  const double ffn = static_cast<double>(model.ffn_hidden);
  const LatentAttention& mla = model.mla;
  const double core = mla.kv_rank > 0 ? elements(model.heads, mla.value_dim) : query;
  LayerLinears out{
      .qkv = column_parallel(shard, "qkv projection", shard.qkv_width(), query + 2.0 * key),
      .projection = row_parallel(shard, "attention output projection", shard.core_width, core),
      .up = column_parallel(shard, model.gated_mlp ? "gate and up projection" : "up projection",
                            shard.up, model.gated_mlp ? 2.0 * ffn : ffn),
      .down = row_parallel(shard, "down projection", shard.ffn, ffn),
      .latent = {},
      .queries = {},
      .keys = {}};
  out.qkv.parts = {{Matrix::query, shard.query_width},
                   {Matrix::key, shard.key_width},
                   {Matrix::value, shard.value_width}};
  out.projection.parts = {{Matrix::output, shard.hidden}};
  name_mlp(out.up, out.down, model.gated_mlp);
  if (mla.kv_rank > 0) add_latent(out, model, shard);
  return out;
}

} // namespace clustersim
