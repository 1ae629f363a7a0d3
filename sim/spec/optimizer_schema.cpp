#include "spec/schemas.hpp"

namespace clustersim {
namespace {

using O = Optimizer;

const Schema<OptimizerState>& state_schema() {
  static const Schema<OptimizerState> schema = [] {
    using F = OptimizerState;
    Schema<F> s{"state", "What an optimizer remembers", {}};
    add(s, "name", at(&F::name), "what it is").required();
    add(s, "dtype", at(&F::dtype), "how it is stored").required();
    add(s, "block", at(&F::block), "values that share an FP32 scale; 0 = none")
        .between(0, 1e9)
        .because("not scaled by blocks");
    add_choice(s, "shape", at(&F::shape),
               Choices<StateShape>{{"parameter", StateShape::parameter},
                                   {"factored", StateShape::factored}},
               "one value per parameter, or one per row and one per column of a matrix")
        .because("as large as the parameters");
    add_choice(s, "of", at(&F::of),
               Choices<ParameterGroup>{{"all", ParameterGroup::all},
                                       {"matrices", ParameterGroup::matrices},
                                       {"rest", ParameterGroup::rest}},
               "of all parameters, of the layers' matrices, or of all others")
        .because("one rule for all");
    return s;
  }();
  return schema;
}

void add_work(Schema<O>& s, const std::string& table, UpdateWork O::*work) {
  using W = UpdateWork;
  const bool first = table == "update";
  const auto key = [&](const char* name, auto member, const char* help, double most) {
    auto tuner = add(s, table + "." + name, at(work, member), help).between(0, most);
    if (!first) tuner.derived("as in [update]");
    return tuner;
  };
  auto gradient = key("gradient_moves", &W::gradient_moves,
                      "times that a gradient, or what takes its place, is read or written", 1000);
  auto weight =
      key("weight_moves", &W::weight_moves, "times that the FP32 weight is read or written", 1000);
  auto state =
      key("state_moves", &W::state_moves, "times that every state is read or written", 1000);
  auto extra = key("extra_bytes", &W::extra_bytes, "bytes moved per parameter besides", 1000);
  auto flops = key("flops", &W::flops, "FLOP per parameter outside the matrix units", 10000);
  auto kernels = key("kernels_per_tensor", &W::kernels_per_tensor,
                     "launches for every tensor; 0 = all tensors share the stack's launches", 1000);
  if (!first) return;
  gradient.because("read once");
  weight.because("read and written once");
  state.because("read and written once");
  extra.because("one fused pass");
  flops.because("none");
  kernels.because("fused over tensors");
}

} // namespace

const Schema<Optimizer>& optimizer_schema() {
  static const Schema<O> schema = [] {
    Schema<O> s{"optimizer", "An update rule (models/optimizers)", {}};
    add_identity(
        s, [](auto& optimizer) -> auto& { return optimizer; });
    add_work(s, "update", &O::update);
    add_work(s, "matrices", &O::matrices);
    using R = Orthogonalisation;
    add(s, "orthogonalise.rounds", at(&O::orthogonalise, &R::rounds),
        "Newton-Schulz iterations on every matrix of a layer; 0 = none")
        .between(0, 100)
        .because("no matrix products in the update");
    add(s, "orthogonalise.precision", at(&O::orthogonalise, &R::precision), "of those products")
        .because("stable in BF16");
    add(s, "orthogonalise.gram_moves", at(&O::orthogonalise, &R::gram_moves),
        "times that X·Xᵀ is read or written beside the products, per round")
        .between(0, 1000)
        .because("scaled and added within the products");
    add(s, "orthogonalise.matrix_moves", at(&O::orthogonalise, &R::matrix_moves),
        "the same of the matrix X")
        .between(0, 1000)
        .because("scaled and added within the products");
    add_tables(s, "state", state_schema(), at(&O::states), "what it remembers");
    return s;
  }();
  return schema;
}

} // namespace clustersim
