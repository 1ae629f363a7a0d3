#include "examples.hpp"

#include "base/bug.hpp"

#include <array>

namespace clustersim::test {

Transformer small_gpt(std::int64_t layers, std::int64_t heads) {
  Transformer model;
  model.layers = layers;
  model.heads = model.kv_heads = heads;
  model.head_dim = 64;
  model.hidden = heads * model.head_dim;
  model.ffn_hidden = 4 * model.hidden;
  model.vocabulary = 8192;
  model.max_positions = 1024;
  model.tied_embeddings = true;
  model.attention_bias = model.projection_bias = model.mlp_bias = true;
  return model;
}

Transformer gpt3() {
  Transformer model = small_gpt(96, 96);
  model.head_dim = 128;
  model.hidden = 96 * 128;
  model.ffn_hidden = 4 * model.hidden;
  model.vocabulary = 51200;
  model.max_positions = 2048;
  return model;
}

Transformer llama3_70b() {
  Transformer model;
  model.layers = 80;
  model.hidden = 8192;
  model.heads = 64;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.ffn_hidden = 28672;
  model.vocabulary = 128256;
  model.gated_mlp = true;
  model.activation = Activation::silu;
  model.norm = NormKind::rms_norm;
  model.position = PositionKind::rotary;
  return model;
}

FusionRecipe plain_recipe() {
  using enum Site;
  FusionRecipe recipe;
  for (const Site site : std::array{embedding, norm, residual, qkv, rope, score, context,
                                    activation, loss, gradient, quantise}) {
    FusedKernel kernel;
    kernel.name = "kernel";
    kernel.site = site;
    kernel.forward = 2;
    kernel.backward = 3;
    recipe.kernels.push_back(kernel);
  }
  return recipe;
}

Optimizer adamw() {
  Optimizer optimizer;
  optimizer.states = {{.name = "momentum"}, {.name = "variance"}};
  return optimizer;
}

Scenario example(Transformer model, std::int64_t sequence, const char* attention) {
  Scenario scenario;
  scenario.model = std::move(model);
  Partition partition;
  AttentionRate rate;
  rate.kernel = "fused";
  partition.node.chip.kernels.attention.push_back(rate);
  partition.node.chip.memory.capacity = Bytes{80e9};
  partition.node.chip.memory.usable = Bytes{79e9};
  scenario.cluster.partitions.push_back(partition);
  scenario.training.sequence = sequence;
  scenario.training.global_batch = 1;
  Stack& stack = scenario.training.stack;
  stack.attention_kernel = attention;
  stack.recipe = plain_recipe();
  scenario.training.optimizer = adamw();
  stack.optimizer.norm_bytes_per_parameter = 4;
  stack.overlap.bucket = Bytes{1e8};
  return scenario;
}

void spread(Scenario& scenario, int tensor, int data, std::int64_t micro_batches) {
  scenario.plan.tensor = tensor;
  scenario.plan.data = data;
  scenario.training.global_batch = micro_batches * data * scenario.plan.micro_batch;
}

namespace {

void visit_sequence(const StepProgram& program, std::size_t index, std::int64_t times,
                    const std::function<void(const Op&, std::int64_t)>& visit) {
  for (const Item& item : program.sequences.at(index).items) {
    if (item.what == Item::What::sequence) {
      visit_sequence(program, item.index, times * item.count, visit);
      continue;
    }
    for (const Op& op : program.blocks.at(item.index).ops)
      visit(op, times * item.count);
  }
}

} // namespace

void for_each_op(const StepProgram& program,
                 const std::function<void(const Op&, std::int64_t)>& visit) {
  visit_sequence(program, program.classes.at(0).sequence, 1, visit);
}

double sum_over_step(const StepProgram& program, const std::function<double(const Op&)>& value) {
  double sum = 0.0;
  for_each_op(program, [&](const Op& op, std::int64_t calls) {
    sum += static_cast<double>(calls) * value(op);
  });
  return sum;
}

double program_model_flops(const Scenario& scenario) {
  const StepProgram program = lower(scenario);
  return sum_over_step(program, [](const Op& op) { return op.model_flops.si(); }) *
         static_cast<double>(program.classes.at(0).ranks);
}

Block block_named(const StepProgram& program, const char* name) {
  for (const Block& block : program.blocks) {
    if (block.name == name) return block;
  }
  throw Bug("no block of that name");
}

double gemm_flops(const Op& op) {
  const auto* gemm = std::get_if<GemmShape>(&op.work);
  if (gemm == nullptr) return 0.0;
  return 2.0 * static_cast<double>(gemm->batch) * static_cast<double>(gemm->m) *
         static_cast<double>(gemm->n) * static_cast<double>(gemm->k);
}

double payload(const Op& op, Axis axis) {
  const auto* collective = std::get_if<Collective>(&op.work);
  if (collective == nullptr || collective->axis != axis) return 0.0;
  return collective->payload.si() * collective->calls;
}

} // namespace clustersim::test
