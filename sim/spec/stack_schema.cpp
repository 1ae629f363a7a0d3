#include "spec/schemas.hpp"

#include <array>

namespace clustersim {
namespace {

using S = StackInput;

template <class M>
auto stack(M Stack::*member) {
  return at(&S::stack, member);
}
template <class G, class M>
auto stack(G Stack::*group, M G::*member) {
  return [ group, member ](auto& input) -> auto& {
    return (input.stack.*group).*member;
  };
}

template <class E, std::size_t N>
Choices<E> named(const std::array<E, N>& values) {
  Choices<E> choices;
  for (const E value : values) {
    choices.emplace_back(name_of(value), value);
  }
  return choices;
}

const Schema<FusedKernel>& kernel_schema() {
  static const Schema<FusedKernel> schema = [] {
    using F = FusedKernel;
    Schema<F> s{"kernel", "A memory-bound kernel", {}};
    add(s, "name", at(&F::name), "what it does").required();
    using enum Site;
    add_choice(s, "site", at(&F::site),
               named(std::array{embedding, norm, residual, qkv, rope, score, context, activation,
                                loss, gradient, adapter, cast, quantise}),
               "where in a step it runs, and so the tensor it works on")
        .required();
    Choices<KernelClass> classes;
    for (std::size_t i = 0; i < kernel_class_count; ++i) {
      const auto one = static_cast<KernelClass>(i);
      classes.emplace_back(name_of(one), one);
    }
    add_choice(s, "class", at(&F::kernel_class), std::move(classes),
               "share of bandwidth it reaches")
        .required();
    add(s, "forward", at(&F::forward), "elements moved per element")
        .between(0, 1000)
        .because("none");
    add(s, "backward", at(&F::backward), "elements moved per element")
        .between(0, 1000)
        .because("none");
    add(s, "extra_bytes", at(&F::extra_bytes), "bytes per element beside that, each way")
        .between(0, 1000)
        .because("none");
    add(s, "saved", at(&F::saved), "bytes per element kept for backward")
        .between(0, 1000)
        .because("none");
    using enum KernelCondition;
    add_choice(s, "when", at(&F::when),
               named(std::array{always, gated, ungated, dropout, no_dropout}),
               "which models run it")
        .because("all of them");
    return s;
  }();
  return schema;
}

void add_general(Schema<S>& s) {
  add_choice(s, "stack.launch", stack(&Stack::launch),
             Choices<LaunchMode>{{"eager", LaunchMode::eager},
                                 {"graph", LaunchMode::graph},
                                 {"compiled", LaunchMode::compiled}},
             "how kernels are launched")
      .required();
  add(s, "stack.recipe", at(&S::recipe), "id of a fusion recipe").required();
  add(s, "stack.attention_kernel", stack(&Stack::attention_kernel),
      "unfused, or a kernel of the chip's calibration")
      .required();
  add(s, "stack.attention_fallbacks", stack(&Stack::attention_fallbacks),
      "in order, where the chip lacks the first");
  add(s, "stack.class_factor", stack(&Stack::class_factor), "on every memory-bound share")
      .between(0.01, 2)
      .because("kernels as calibrated");
  add(s, "stack.spread", stack(&Stack::spread),
      "scatter of steps between releases, and by settings that nobody states")
      .between(0, 1)
      .because("between releases of one framework");
  add(s, "stack.straggler_per_doubling", stack(&Stack::straggler_per_doubling),
      "the step grows by this per doubling of chips above 8")
      .between(0, 1)
      .because("none");
}

void add_host(Schema<S>& s) {
  using H = Stack::Host;
  using O = Stack::Overlap;
  add(s, "host.per_operator", stack(&Stack::host, &H::per_operator), "dispatch of one operator")
      .required()
      .between(0, 1);
  add(s, "host.backward_factor", stack(&Stack::host, &H::backward_factor), "of that, in backward")
      .between(0, 10)
      .because("autograd dispatches in C++");
  add(s, "host.per_collective", stack(&Stack::host, &H::per_collective), "of that, per collective")
      .between(0, 100)
      .because("one call");
  const auto share = [&](std::string key, auto member, std::string help) {
    add(s, std::move(key), stack(&Stack::overlap, member), std::move(help))
        .between(0, 1)
        .because("none");
  };
  share("overlap.data", &O::data, "of gradient reduction that may hide behind backward");
  share("overlap.gather", &O::gather, "of ZeRO's parameter gathers");
  share("overlap.tensor", &O::tensor, "of tensor-parallel collectives");
  share("overlap.pipeline", &O::pipeline, "of sends between stages of an interleaved pipeline");
  share("overlap.context", &O::context, "of the ring exchange of keys and values");
  share("overlap.expert", &O::expert, "of the all-to-all of experts");
  share("overlap.tax", &O::tax, "compute lost per second of overlapped communication");
  add(s, "overlap.tensor_gradient", stack(&Stack::overlap, &O::tensor_gradient),
      "of input-gradient collectives, where it differs from overlap.tensor")
      .between(0, 1);
  add(s, "overlap.weights", stack(&Stack::overlap, &O::weights),
      "of the gathers and scatters of ZeRO-2 and 3, where it differs from overlap.gather and "
      "overlap.data")
      .between(0, 1);
  add(s, "overlap.bucket", stack(&Stack::overlap, &O::bucket), "gradient bucket; 0 = no buckets")
      .required()
      .between(0, 1e12);
  add(s, "overlap.bucket_per_rank", stack(&Stack::overlap, &O::bucket_per_rank),
      "a bucket is at least this for every data-parallel rank")
      .between(0, 1e12)
      .because("a bucket does not grow with the job");
}

void add_training(Schema<S>& s) {
  add(s, "gradient.accumulate_in_gemm",
      stack(&Stack::gradient, &Stack::Gradient::accumulate_in_gemm),
      "the weight-gradient GEMM adds into the main gradient")
      .because("fused in Megatron-class stacks");
  add(s, "gradient.kept_until_pass_ends",
      stack(&Stack::gradient, &Stack::Gradient::kept_until_pass_ends),
      "fresh gradients of another type than the main one are added to it after the backward pass, "
      "all together")
      .because("added parameter by parameter");
  add(s, "gradient.dtype", stack(&Stack::gradient, &Stack::Gradient::dtype),
      "of the main gradient, unless the scenario says")
      .because("the safe choice");
  using O = Stack::Optimizer;
  add(s, "optimizer.use", stack(&Stack::optimizer, &O::use),
      "id of the optimizer that it trains with, unless the scenario says")
      .because("the usual choice");
  add(s, "optimizer.extra_bytes_per_parameter",
      stack(&Stack::optimizer, &O::extra_bytes_per_parameter),
      "traffic of its update beyond what the optimizer's file says")
      .between(0, 1000)
      .because("none");
  add(s, "optimizer.norm_bytes_per_parameter",
      stack(&Stack::optimizer, &O::norm_bytes_per_parameter), "gradient norm and clipping")
      .between(0, 1000)
      .because("no clipping");
  add(s, "optimizer.kernels", stack(&Stack::optimizer, &O::kernels), "launches of the update")
      .between(1, 1e6)
      .because("one fused kernel");
  add(s, "head.logit_bytes", stack(&Stack::head, &Stack::Head::logit_bytes),
      "memory kept per logit, loss included")
      .between(0, 100)
      .because("FP32 logits");
  add(s, "experts.deduplicates", stack(&Stack::experts, &Stack::Experts::deduplicates),
      "a token goes once to a rank that holds several of its experts, and once to a node; copies "
      "are laid out by expert on arrival")
      .because("a plain all-to-all of copies");
  using M = Stack::MemoryUse;
  add(s, "memory.framework", stack(&Stack::memory, &M::framework),
      "context, communicators and cache of one chip")
      .required()
      .between(0, 1e12);
  add(s, "memory.fragmentation", stack(&Stack::memory, &M::fragmentation),
      "what the allocator holds beyond its peak, as a share of it")
      .between(0, 1)
      .because("none");
  add(s, "memory.workspace", stack(&Stack::memory, &M::workspace), "scratch of the libraries")
      .between(0, 1e12)
      .because("none");
}

} // namespace

const Schema<FusionRecipe>& recipe_schema() {
  static const Schema<FusionRecipe> schema = [] {
    Schema<FusionRecipe> s{"recipe", "Which memory-bound kernels run (models/recipes)", {}};
    add_identity(
        s, [](auto& recipe) -> auto& { return recipe; });
    add_tables(s, "kernel", kernel_schema(), at(&FusionRecipe::kernels), "the kernels, in order")
        .required();
    return s;
  }();
  return schema;
}

const Schema<StackInput>& stack_schema() {
  static const Schema<S> schema = [] {
    Schema<S> s{"stack", "A software stack (models/stacks)", {}};
    add_identity(s, at(&S::stack));
    add_general(s);
    add_host(s);
    add_training(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
