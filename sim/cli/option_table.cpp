#include "cli/option_table.hpp"

#include "base/bug.hpp"

#include <algorithm>

namespace clustersim::cli {

namespace {

const std::vector<OptionSpec> table{
    {"--set", "KEY=VALUE", "override a key of the scenario; repeatable, the later wins", false,
     &Options::settings},
    {"--calibration", "FILE",
     "lay the fitted constants of FILE over the catalogue; repeatable, the later wins", false,
     &Options::calibrations},
    {"--fit", "KEY", "fit this constant, and no other that is not named; repeatable", false,
     &Options::fit},
    {"--hold", "KEY", "leave this constant, or all of this table, as it is; repeatable", false,
     &Options::hold},
    {"--prior", "SHARE", "hold each constant to its value before, within about this share", false,
     &Options::prior},
    {"--date", "DATE", "a date to note in the calibration file", false, &Options::date},
    {"--fail-on", "LIMIT", "end with 1 when a result is worse than the limit; repeatable", false,
     &Options::fail_on},
    {"--engine", "NAME",
     "analytic: in closed form; or event: call by call, where collectives share links", false,
     &Options::engine},
    {"--compare-engines", "", "time the step by both engines, side by side", false,
     &Options::compare_engines},
    {"--trace", "FILE", "write the event engine's timeline for Perfetto or chrome://tracing", false,
     &Options::trace},
    {"--chip", "NAME", "a chip; more names may follow", false, &Options::chips},
    {"--precision", "NAME", "only this number format: fp64, fp32, tf32, fp16, bf16, fp8, …", false,
     &Options::precision},
    {"--m", "RANGE", "rows of the result", false, &KernelOptions::m},
    {"--n", "RANGE", "columns of the result", false, &KernelOptions::n},
    {"--k", "RANGE", "depth of the products", false, &KernelOptions::k},
    {"--batch", "RANGE", "independent products, or sequences; 1", false, &KernelOptions::batch},
    {"--role", "NAME", "forward, data_gradient or weight_gradient (adds into FP32)", false,
     &KernelOptions::role},
    {"--sums", "NAME", "fp32, or fp16: sums in 16 bits, where the chip is faster so", false,
     &KernelOptions::sums},
    {"--sparse", "", "2:4 sparse operands, where the chip is faster so", false,
     &KernelOptions::sparse},
    {"--sequence", "RANGE", "tokens of a sequence; 8k is 8192", false, &KernelOptions::sequence},
    {"--heads", "RANGE", "query heads", false, &KernelOptions::heads},
    {"--kv-heads", "RANGE", "key and value heads; as many as query heads", false,
     &KernelOptions::kv_heads},
    {"--head-dim", "RANGE", "width of a head; 128", false, &KernelOptions::head_dim},
    {"--window", "RANGE", "keys that a query sees; all", false, &KernelOptions::window},
    {"--causal", "", "queries see no later key", false, &KernelOptions::causal},
    {"--backward", "", "the gradient kernel", false, &KernelOptions::backward},
    {"--library", "NAME", "attention kernel such as flash-2, or unfused; the fastest known", false,
     &KernelOptions::library},
    {"--class", "NAME", "class of a memory-bound kernel: norm, activation, softmax, …", false,
     &KernelOptions::kernel_class},
    {"--bytes", "RANGE", "read and written together: 256MiB", false, &KernelOptions::bytes},
    {"--power-cap", "RANGE", "watts per chip; the board's limit", false, &KernelOptions::power_cap},
    {"--condition", "NAME",
     "sustained; burst: a few replays on a cool chip; or loop: for about a second", false,
     &KernelOptions::condition},
    {"--operands", "NAME",
     "random; easy: weights as allocated, which draw less power; or still: zeros", false,
     &KernelOptions::operands},
    {"--launch", "NAME", "stream, or graph: replayed from a captured graph", false,
     &KernelOptions::launch},
    {"--sweep", "KEY=RANGE", "vary a dimension, or several together (m,n,k=…); repeatable", false,
     &KernelOptions::sweeps},
    {"--fix", "AXIS=VALUES", "only these values of an axis, such as tensor=8; repeatable", false,
     &PlanSearchOptions::fix},
    {"--objective", "NAME", "step_time, cost, energy, memory or tokens_per_dollar; step_time",
     false, &PlanSearchOptions::objective},
    {"--top", "N", "list the N best plans; 10", false, &PlanSearchOptions::top},
    {"--pareto", "", "also list the plans that trade time for memory", false,
     &PlanSearchOptions::pareto},
    {"--exhaustive", "", "try every plan, even those that a bound proves worse", false,
     &PlanSearchOptions::exhaustive},
    {"--shard", "I/N", "search the I-th of N parts of the space", false, &PlanSearchOptions::shard},
    {"--vary", "KEY=RANGE", "at each of these values; repeatable: every combination", false,
     &SweepOptions::vary},
    {"--metric", "NAME", "what the table or picture shows: step_time, mfu, tokens_per_s, memory, …",
     false, &SweepOptions::metric},
    {"--topology", "NAME", "a node of the catalogue, or a scenario file", false,
     &Options::topology},
    {"--nodes", "N", "how many of them; 1 unless given", false, &Options::nodes},
    {"--fabric", "NAME", "what joins the nodes; by their network cards unless given", false,
     &Options::fabric},
    {"--ranks", "N", "chips of a group, dealt evenly to the nodes; all unless given", false,
     &Options::ranks},
    {"--sizes", "RANGE", "8B..8GiB doubles; also A,B,C, A..B:x4, A..B:+STEP", false,
     &Options::sizes},
    {"--algorithm", "NAME",
     "auto, ring, tree, in-switch, direct, hierarchical, halving-doubling, multicast, …", false,
     &Options::algorithm},
    {"--collective", "KIND", "colour the links by what this collective puts on them", false,
     &Options::collective},
    {"--size", "BYTES", "its size; 1GiB unless given", false, &Options::size},
    {"--svg", "FILE", "draw the graph, repetition collapsed, as a picture", false, &Options::svg},
    {"--dot", "FILE", "the same for Graphviz", false, &Options::dot},
    {"--concurrent", "N", "so many groups at once in each node", false, &Options::concurrent},
    {"--csv", "", "print CSV", false, &Options::csv},
    {"--json", "", "print JSON", false, &Options::json},
    {"--threads", "N", "use at most N threads; the answer stays the same", false,
     &Options::threads},
    {"-o,--output", "FILE",
     "write to FILE; its ending (.txt, .json; .csv where --csv is) sets the format; "
     "calibrate writes .toml",
     false, &Options::output},
    {"--data", "DIR", "look for models, topologies and configs here first", true, &Options::data},
    {"--color", "WHEN", "always, never or auto (a terminal, and NO_COLOR not set)", true,
     &Options::colour},
    {"-q,--quiet", "", "say less: the first screen, no notes on standard error", true,
     &Options::quiet},
    {"-v,--verbose", "", "say more: every operator, every value with its source", true,
     &Options::verbose},
    {"-h,--help", "", "help for a verb", true, &Options::help},
    {"--version", "", "print the version", true, &Options::version},
};

} // namespace

const std::vector<OptionSpec>& option_table() {
  return table;
}

const OptionSpec& option(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const OptionSpec& spec) { return spec.name() == name; });
  if (found == table.end()) {
    throw Bug("a verb names an option that is not in the table: " + std::string{name});
  }
  return *found;
}

} // namespace clustersim::cli
