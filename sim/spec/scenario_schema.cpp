#include "spec/schemas.hpp"

namespace clustersim {
namespace {

using S = ScenarioInput;
constexpr double most_chips = 1e6, most_sequences = 1e9;

template <class G, class M>
auto in(G Scenario::*group, M G::*member) {
  return [ group, member ](auto& input) -> auto& {
    return (input.scenario.*group).*member;
  };
}

// Tables that other readers take apart; here they are only known names.
FieldTuner add_open_table(Schema<S>& s, std::string key, std::string help) {
  return add_custom(
      s, std::move(key), "table", "a table",
      [](const Given& given, S&) {
        if (given.tree.type != TreeType::table) {
          report(given, "'" + given.info.key + "' is a table");
        }
        return given.tree.type == TreeType::table;
      },
      std::move(help));
}

/// [[cluster.partition]]; the places of its keys are kept for the checks that follow.
void add_partitions(Schema<S>& s) {
  add_custom(
      s, "cluster.partition", "tables", "[[cluster.partition]]",
      [](const Given& given, S& input) {
        constexpr std::size_t most = 64;
        const std::vector<const Tree*> tables = read_tables(given);
        if (tables.size() > most) {
          report(given, std::to_string(tables.size()) + " partitions are more than 64");
          return false;
        }
        for (std::size_t i = 0; i < tables.size(); ++i) {
          ReadContext inner{given.context.out,
                            given.context.prefix + given.info.key + "[" + std::to_string(i) + "]."};
          PartitionInput one;
          one.reading = read_object(partition_schema(), *tables[i], one, inner);
          echo_object(partition_schema(), one, one.reading, inner);
          append(given.context.echo, inner.echo);
          input.partitions.push_back(std::move(one));
        }
        return given.tree.type == TreeType::array;
      },
      "unlike parts of one cluster, in place of node, nodes and fabric");
  s.fields.back().info.item = [] { return documented(partition_schema()); };
}

void add_what(Schema<S>& s) {
  add(
      s, "title", [](auto& input) -> auto& { return input.scenario.title; },
      "what the report is headed")
      .because("none given");
  add(s, "cluster.node", at(&S::node), "id of a node")
      .derived("needed unless partitions are listed")
      .example("the name of a node; clustersim list nodes");
  add(s, "cluster.nodes", at(&S::nodes), "how many").between(1, most_chips).because("one node");
  add(s, "cluster.fabric", at(&S::fabric), "id of a fabric; needed above one node")
      .example("the name of a fabric; clustersim list fabrics");
  add_partitions(s);
  add(s, "cluster.between", at(&S::between),
      "id of the fabric that joins several partitions: those without a fabric of their own plug "
      "into it, the topmost switches of the others hang at its topmost")
      .example("the name of a fabric; clustersim list fabrics");
  add(s, "cluster.between_links", at(&S::between_links),
      "links from each partition's own fabric to the one between")
      .between(1, most_chips)
      .derived("one for each network card, over the oversubscription of the fabric between");
  add_open_table(
      s, "model",
      "use = \"id of a transformer\", or the keys of a transformer written here, or both: "
      "then the keys written here replace the file's")
      .required()
      .example("a table, such as [model] use = \"llama-3-8b\"");
  add_open_table(s, "override", "[override.KIND.\"id\"]: keys of that file, replaced");
  add_open_table(s, "define", "[define.KIND.\"id\"]: a whole file of that kind, written here");
}

Choices<Precision> formats(std::initializer_list<Precision> list) {
  Choices<Precision> choices;
  for (const Precision one : list)
    choices.emplace_back(name_of(one), one);
  return choices;
}

void add_training(Schema<S>& s) {
  using T = Training;
  add(s, "training.sequence", in(&Scenario::training, &T::sequence), "tokens of one sequence")
      .between(1, 1e8)
      .length()
      .alias("seq")
      .derived("what the model was trained at");
  add(s, "training.decoder_sequence", in(&Scenario::training, &T::decoder_sequence),
      "tokens of one target sequence of an encoder-decoder")
      .between(1, 1e8)
      .length()
      .derived("as many as sequence");
  add(s, "training.global_batch", in(&Scenario::training, &T::global_batch),
      "sequences per optimizer step")
      .required_unless("inference")
      .between(1, most_sequences)
      .alias("gbs");
  using enum Precision;
  add_choice(s, "training.precision", in(&Scenario::training, &T::precision),
             formats({fp32, tf32, fp16, bf16, fp8, fp4, int8}), "of matrix products")
      .because("the usual choice since 2021");
  add_choice(s, "training.gradient_precision", in(&Scenario::training, &T::gradient_precision),
             Choices<std::optional<Precision>>{{"bf16", bf16}, {"fp16", fp16}, {"fp8", fp8}},
             "of the products that make gradients, where it differs from precision");
  add(s, "training.optimizer", at(&S::optimizer), "id of an optimizer; clustersim list optimizers")
      .derived("what the stack trains with");
  add_choice(s, "training.gradient_dtype", in(&Scenario::training, &T::gradient_dtype),
             formats({fp32, fp16, bf16}), "of the main gradient")
      .derived("what the stack keeps");
  add_choice(s, "training.master_dtype", in(&Scenario::training, &T::master_dtype),
             formats({fp32, fp16, bf16}), "of the master weights")
      .because("mixed precision keeps FP32 master weights");
}

void add_training_run(Schema<S>& s) {
  using T = Training;
  add(s, "training.dropout", in(&Scenario::training, &T::dropout), "dropout in the layers")
      .because("large models are trained without");
  add(s, "training.document", in(&Scenario::training, &T::document),
      "tokens of each document, where several are packed into a sequence: queries see the keys of "
      "their own")
      .between(1, 1e8)
      .length();
  add(s, "training.loss_chunks", in(&Scenario::training, &T::loss_chunks),
      "pieces of a micro-batch whose logits, loss and gradient are taken one after another")
      .between(1, 256)
      .because("all logits at once");
  add(s, "training.expert_imbalance", in(&Scenario::training, &T::expert_imbalance),
      "tokens of the busiest rank's experts over the mean; a capacity factor of the model replaces "
      "it")
      .between(1, 1000)
      .because("routing that balances evenly");
  add(s, "training.masked_tokens", in(&Scenario::training, &T::masked_tokens),
      "of a sequence, that a masked-token head scores; 0 = all of them")
      .between(0, 1e9)
      .because("the head runs on every token");
  add(s, "training.stack", at(&S::stack), "id of a software stack")
      .required_unless("inference")
      .example("the name of a stack; clustersim list stacks");
  add(s, "training.tokens", in(&Scenario::training, &T::tokens), "of the whole run").above(0, 1e18);
}

void add_axes(Schema<S>& s) {
  using P = Plan;
  const auto axis = [&](std::string key, int P::*member, std::string help, std::string alias) {
    return add(s, std::move(key), in(&Scenario::plan, member), std::move(help))
        .between(1, most_chips)
        .alias(std::move(alias))
        .because("not split");
  };
  axis("plan.tensor", &P::tensor, "chips that share each layer's matrices", "tp");
  axis("plan.pipeline", &P::pipeline, "stages of layers", "pp");
  axis("plan.virtual_stages", &P::virtual_stages, "chunks of layers on each stage", "vp");
  axis("plan.data", &P::data, "replicas that share the batch", "dp")
      .derived("chips / (tensor x pipeline x context)");
  axis("plan.context", &P::context, "chips that share each sequence", "cp");
  add_choice(s, "plan.context_exchange", in(&Scenario::plan, &P::context_exchange),
             context_exchange_words(),
             "how ranks that share a sequence see each other's keys and values")
      .because("the usual choice of Megatron-Core");
  axis("plan.expert", &P::expert, "chips that share the experts", "ep");
  add(s, "plan.expert_tensor", in(&Scenario::plan, &P::expert_tensor),
      "chips that share each expert's matrices")
      .between(1, most_chips)
      .alias("etp")
      .derived("tensor, for a model with experts");
}

void add_plan(Schema<S>& s) {
  using P = Plan;
  add(s, "plan.sequence_parallel", in(&Scenario::plan, &P::sequence_parallel),
      "norms and residuals are split along the sequence too")
      .alias("sp")
      .because("off in most frameworks");
  add(s, "plan.zero", in(&Scenario::plan, &P::zero),
      "optimizer sharding: 0 none, 1 states, 2 gradients too, 3 weights too")
      .between(0, 3)
      .because("off in most frameworks");
  add(s, "plan.hybrid_shard", in(&Scenario::plan, &P::hybrid_shard),
      "ranks of the data axis that zero shards over, in as many copies as there are groups; 1 = "
      "all")
      .between(1, most_chips)
      .because("sharded over the whole axis");
  add(s, "plan.micro_batch", in(&Scenario::plan, &P::micro_batch),
      "sequences at a time and replica")
      .between(1, most_sequences)
      .alias("mbs")
      .because("least memory");
  add_choice(s, "plan.recompute", in(&Scenario::plan, &P::recompute), recompute_words(),
             "what backward computes again: nothing, the attention core, all but every other "
             "product and the core, or whole layers")
      .because("fastest, if it fits");
  add_choice(s, "plan.recompute_method", in(&Scenario::plan, &P::recompute_method),
             Choices<RecomputeMethod>{{"uniform", RecomputeMethod::uniform},
                                      {"block", RecomputeMethod::block}},
             "with full: all layers in groups that keep one input, or the first layers of each "
             "stage alone")
      .because("all layers alike");
  add(s, "plan.recompute_layers", in(&Scenario::plan, &P::recompute_layers),
      "with full: layers of a group, or under block of each chunk of layers")
      .between(1, 100000)
      .because("every layer keeps its input");
  add_offload(s);
  add_choice(s, "plan.schedule", in(&Scenario::plan, &P::schedule), schedule_words(),
             "order of a pipeline's passes; 1f1b with virtual_stages is interleaved")
      .because("least memory of the plain ones");
  add(s, "plan.ends_as_layers", in(&Scenario::plan, &P::ends_as_layers),
      "embedding and head take a layer's place when layers are shared out over stages")
      .derived("where layers do not divide, but layers + 2 do");
  add(s, "plan.stage_layers", in(&Scenario::plan, &P::stage_layers),
      "layers of each stage of the pipeline, in the model's order; with virtual stages of each of "
      "their chunks")
      .between(0, 100000)
      .derived("shared out evenly");
  add(s, "plan.placement", at(&S::placement),
      "in which order the axes count through the chips, the fastest first: \"tensor, context, "
      "expert, data, pipeline\" or \"tp-cp-ep-dp-pp\"")
      .example("the axes in order, such as \"tensor, context, expert, data, pipeline\"")
      .derived("the usual order; with several partitions data comes last");
}

void add_inference(Schema<S>& s) {
  using I = Inference;
  using enum Precision;
  add(s, "inference.batch", in(&Scenario::inference, &I::batch),
      "sequences served at a time by each copy of the model; this table takes the place of "
      "[training]")
      .required_in_table()
      .between(1, 1e6);
  add(s, "inference.prompt", in(&Scenario::inference, &I::prompt), "tokens of a prompt")
      .required_in_table()
      .between(1, 1e7)
      .length();
  add(s, "inference.output", in(&Scenario::inference, &I::output), "tokens generated for it")
      .required_in_table()
      .between(1, 1e7)
      .length();
  add(s, "inference.stack", at(&S::serving_stack), "id of a software stack")
      .required_in_table()
      .example("the name of a stack; clustersim list stacks");
  add_choice(s, "inference.precision", in(&Scenario::inference, &I::precision),
             formats({fp32, tf32, fp16, bf16, fp8, fp4, int8}), "of matrix products")
      .because("the usual choice");
  add_choice(s, "inference.weights", in(&Scenario::inference, &I::weights),
             formats({fp32, fp16, bf16, fp8, fp4, int8, int4}),
             "format in which the layers' matrices are stored; products widen it")
      .derived("the precision of the products");
  add(s, "inference.weight_group", in(&Scenario::inference, &I::weight_group),
      "4-bit weights that share one 16-bit scale")
      .between(1, 1e6)
      .because("of AWQ and GPTQ checkpoints");
  add_choice(s, "inference.kv_cache", in(&Scenario::inference, &I::kv_cache),
             formats({fp32, fp16, bf16, fp8, int8, int4}), "format of cached keys and values")
      .derived("the activations' format");
  add(s, "inference.chunk", in(&Scenario::inference, &I::chunk),
      "tokens of prompts that one pass works on; longer prompts take several")
      .between(1, 1e7)
      .length()
      .because("the token budget of a step in vLLM and TensorRT-LLM");
  add_choice(s, "inference.launch", in(&Scenario::inference, &I::launch),
             Choices<LaunchMode>{{"graph", LaunchMode::graph},
                                 {"eager", LaunchMode::eager},
                                 {"compiled", LaunchMode::compiled}},
             "how a decode step reaches the chip; prefill is launched as the stack says")
      .because("servers capture the decode step as a graph");
}

void add_rest(Schema<S>& s) {
  add(s, "power.cap", in(&Scenario::power, &PowerLimits::cap), "limit of one chip");
  add(s, "power.pue", in(&Scenario::power, &PowerLimits::pue),
      "power of the site / power of its nodes")
      .between(1, 10)
      .because("nodes alone");
  add(s, "prices.electricity", in(&Scenario::prices, &Prices::electricity), "what energy costs");
  add(s, "calibration.use", at(&S::calibration),
      "a .toml file that `clustersim calibrate` wrote, laid over the catalogue; or a calibration "
      "(its id, or a .toml file) in place of the chip's");
  add_open_table(s, "search",
                 "axis = [values]: what `clustersim search` may choose from; see [search]");
  add_reserved(s, "sizing", "", "cluster sizing is");
}

} // namespace

const Schema<ModelChoice>& model_choice_schema() {
  static const Schema<ModelChoice> schema = [] {
    Schema<ModelChoice> s{"model", "The model of a scenario ([model])", {}};
    add(s, "use", at(&ModelChoice::use),
        "id of a transformer; its keys may follow to replace them");
    add(s, "hf", at(&ModelChoice::hf),
        "the config.json of a Hugging Face model, in place of use; keys may follow here too");
    return s;
  }();
  return schema;
}

const Schema<PartitionInput>& partition_schema() {
  using P = PartitionInput;
  static const Schema<P> schema = [] {
    Schema<P> s{"partition", "One part of a cluster ([[cluster.partition]])", {}};
    add(s, "node", at(&P::node), "id of a node")
        .required()
        .example("the name of a node; clustersim list nodes");
    add(s, "nodes", at(&P::nodes), "how many").between(1, most_chips).because("one node");
    add(s, "fabric", at(&P::fabric), "id of a fabric between these nodes alone")
        .derived("they plug into the fabric between the partitions")
        .example("the name of a fabric; clustersim list fabrics");
    return s;
  }();
  return schema;
}

const Schema<ScenarioInput>& scenario_schema() {
  static const Schema<S> schema = [] {
    Schema<S> s{"scenario", "A question: cluster, model, training, plan (configs)", {}};
    add_what(s);
    add_training(s);
    add_training_run(s);
    add_axes(s);
    add_plan(s);
    add_inference(s);
    add_tuning(s);
    add_rest(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
