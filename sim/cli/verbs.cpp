#include "cli/verbs.hpp"

#include <algorithm>

namespace clustersim::cli {

namespace {

const std::vector<Verb> table{
    {"run",
     "CONFIG",
     "time one training step, or a model that serves, and say what bounds it",
     "CONFIG is a scenario file, or the name of one that comes with clustersim. With [inference] "
     "it "
     "gives time to the first token, time per token, throughput and the largest batch. Ends with 3 "
     "when "
     "the model does not fit in memory: the report then names the largest term and the cheapest "
     "remedies. The analytic engine times the step in closed form, the event engine call by call: "
     "there collectives that run at once share links, and the report says how busy each stream "
     "and link is and what the longest chain consists of. A trace is the event engine's.",
     {"clustersim run configs/dgx_h100.toml",
      "clustersim run dgx_h100 --set tensor=4 --set data=32",
      "clustersim run dgx_h100 --json | jq .results.mfu",
      "clustersim run dgx_h100 --fail-on step_time=8s -o report.json",
      "clustersim run dgx_h100 --compare-engines",
      "clustersim run dgx_h100 --engine event --trace step.json"},
     {"--set", "--calibration", "--engine", "--compare-engines", "--trace", "--json", "--output",
      "--fail-on"},
     1,
     run_verb},
    {"compare",
     "CONFIG...",
     "what differs between scenarios: first the inputs, then the results",
     "The first is what the others are measured against. One scenario with --set is compared "
     "without and with the settings. With --fail-on RESULT=PERCENT (step_time, tokens_per_s, mfu, "
     "peak_memory, energy), ends with 1 when a result is worse by more than that.",
     {"clustersim compare dgx_a100 dgx_h100", "clustersim compare dgx_h100 --set recompute=full",
      "clustersim compare old.toml new.toml --fail-on step_time=+5%"},
     {"--set", "--json", "--csv", "--output", "--fail-on"},
     8,
     compare_verb},
    {"sweep",
     "CONFIG",
     "one scenario at many values of some keys",
     "Runs the scenario at every combination of the values of --vary, at most 10,000. Values: "
     "lists (1,2,4 or none,full), spans (1..8, 2k..128k:x2, 300 W..700 W:+50 W); keys as for "
     "--set. What does not fit shows as oom, what cannot be as n/a, with the reason. -o FILE "
     "writes .csv, .json, or .svg: a line for one key, a heat map for two. A .csv or .json that "
     "exists and has the same inputs is read, and only missing points are computed.",
     {"clustersim sweep llama3_8b_dgx_h100 --vary seq=2k..64k:x2",
      "clustersim sweep single_gpu_gpt2 --vary mbs=1,2,4 --vary recompute=none,full",
      "clustersim sweep my.toml --vary tp=1,2,4,8 --vary mbs=1..4 -o plans.svg"},
     {"--vary", "--metric", "--set", "--calibration", "--json", "--csv", "--output", "--threads"},
     1,
     sweep_verb},
    {"search",
     "CONFIG",
     "find the fastest plan of all that fit",
     "Tries every plan of the space: all axes, or those values that [search] and --fix leave open; "
     "what [plan] says about an axis is only what the best is held against. Plans that a lower "
     "bound proves worse are not tried, which changes no answer. With -o FILE.toml, writes the "
     "scenario with the best plan. Ends with 3 when no plan fits: the report then names the one "
     "that lacks least memory.",
     {"clustersim search llama3_8b_dgx_h100",
      "clustersim search dgx_h100 --fix tensor=4,8 --fix recompute=none,selective --top 3",
      "clustersim search dgx_h100 --pareto --json", "clustersim search dgx_h100 -o best.toml"},
     {"--set", "--fix", "--objective", "--top", "--pareto", "--exhaustive", "--shard",
      "--calibration", "--threads", "--json", "--csv", "--output"},
     1,
     search_verb},
    {"check",
     "FILE...",
     "read files and report every mistake, without running",
     "Takes scenarios, files of the catalogue such as chips and nodes, and calibration files. Ends "
     "with 1 when "
     "something is wrong.",
     {"clustersim check my-cluster.toml", "clustersim check models/chips/*.toml"},
     {"--set", "--calibration"},
     10000,
     check_verb},
    {"list",
     "[KIND]",
     "what the catalogue holds",
     "KIND is chips, transformers, nodes, fabrics, links, stacks, recipes, calibrations or "
     "configs; without it, how many there are of each. -v adds other names that mean the same.",
     {"clustersim list", "clustersim list chips", "clustersim list transformers --json"},
     {"--calibration", "--json", "--csv", "--output"},
     1,
     list_verb},
    {"show",
     "[KIND] NAME",
     "one entry: values, units, sources, other names",
     "NAME is an id, an alias, or a scenario file; a scenario is shown with everything it "
     "resolves "
     "to. A name that means several things lists them.",
     {"clustersim show h100", "clustersim show fabric rail-optimized-ndr",
      "clustersim show configs/dgx_h100.toml"},
     {"--set", "--calibration", "--json", "--output"},
     2,
     show_verb},
    {"init",
     "[chip|node] [FILE]",
     "write a commented file to start from",
     "Without a kind, a scenario. Never overwrites. The default places are scenario.toml, "
     "models/chips/my-chip.toml and topologies/nodes/my-node.toml, where a scenario in this "
     "folder finds them by id.",
     {"clustersim init", "clustersim init my-cluster.toml", "clustersim init chip"},
     {},
     2,
     init_verb},
    {"import",
     "hf|megatron|calculon FILE...",
     "another tool's model or run as a file of ours, with its parameter count",
     "hf: a Hugging Face config.json becomes a transformer. megatron: an argument list of "
     "Megatron-LM, or a shell script that holds one, becomes a config; calculon: so do its "
     "application, execution and system files. Says what was concluded (inferred), what the other "
     "tool would fill in (defaulted) and what bears on nothing here (ignored). Refuses what a file "
     "of ours cannot say. -o FILE.toml writes it.",
     {"clustersim import hf config.json -o models/transformers/my-model.toml",
      "clustersim import hf config.json --json",
      "clustersim import megatron pretrain.sh -o my-run.toml",
      "clustersim import calculon model.json execution.json system.json -o my-run.toml"},
     {"--json", "--output"},
     4,
     import_verb},
    {"roofline",
     "--chip NAME...|CONFIG",
     "roofs of chips, or where a scenario's operators stand on them",
     "One chip: every number format it has. Several: one line each, at a format all of them "
     "have. A scenario: each of its operators with its intensity, its rates and its share of what "
     "the data sheet allows at that intensity.",
     {"clustersim roofline --chip h100", "clustersim roofline --chip h100 h200 b200",
      "clustersim roofline --chip rtx-4090 --precision bf16 --csv",
      "clustersim roofline inference_llama3_70b_h100"},
     {"--chip", "--precision", "--set", "--calibration", "--json", "--csv", "--output"},
     64,
     roofline_verb},
    {"kernel",
     "gemm|attention|memory",
     "time one kernel on a chip, and say which roof binds and why",
     "A RANGE is a number, a list (1,2,4), or FIRST..LAST with a step: 128..8192:x2 doubles, "
     "64..1024:+64 adds, 1..8 counts; sizes double unless told otherwise. Every option that takes "
     "one sweeps it; --sweep names the dimension. More chips may follow the kernel. The time is "
     "what `run` would charge for this operator; the fraction is of the plain roofline: dense peak "
     "and DRAM bandwidth of the data sheet. A precision that the chip lacks runs on the next path "
     "that holds its numbers, and a note says so. --set override.chip.ID.KEY=VALUE changes a "
     "figure "
     "of a chip.",
     {"clustersim kernel gemm --chip h100 --m 4096 --n 4096 --k 4096",
      "clustersim kernel gemm --chip b200 --m 2048 --k 4096 --n 2048..8192:+128",
      "clustersim kernel gemm --chip h100 --sweep m,n,k=512..8192:x2",
      "clustersim kernel attention --chip h100 --sequence 1k..64k:x2 --heads 32",
      "clustersim kernel memory h100 b200 --class norm --bytes 1MiB..1GiB --csv"},
     {"--chip",    "--set",      "--calibration", "--precision", "--m",         "--n",
      "--k",       "--batch",    "--role",        "--sums",      "--sparse",    "--sequence",
      "--heads",   "--kv-heads", "--head-dim",    "--window",    "--causal",    "--backward",
      "--library", "--class",    "--bytes",       "--power-cap", "--condition", "--operands",
      "--launch",  "--sweep",    "--json",        "--csv",       "--output"},
     17,
     kernel_verb},
    {"collective",
     "KIND --topology NAME",
     "time and bandwidth of a collective, by size",
     "KIND is all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce or send_recv. "
     "Sizes and bandwidths follow nccl-tests. The last column names the edge that sets the rate, "
     "or latency "
     "where that takes more than half of the time; -v adds the protocol. Groups that run at once "
     "(--concurrent) start together and share links max-min fairly: the time is the slowest "
     "group's, and the edge is followed by how many groups share it.",
     {"clustersim collective all_reduce --topology dgx_h100",
      "clustersim collective all_reduce --topology dgx_h100 --nodes 4 --ranks 32",
      "clustersim collective all_gather --topology dgx_h100 --sizes 1MiB..1GiB:x4",
      "clustersim collective all_reduce --topology dgx1-v100 --ranks 2 --concurrent 4",
      "clustersim collective all_to_all --topology configs/dgx_h100.toml --csv"},
     {"--topology", "--nodes", "--fabric", "--ranks", "--sizes", "--algorithm", "--concurrent",
      "--set", "--json", "--csv", "--output"},
     1,
     collective_verb},
    {"topology",
     "NAME",
     "a machine as a graph: its links, what they carry, and a drawing",
     "NAME is a node of the catalogue or a scenario. Prints every tier of links and switches, what "
     "a chip reaches at which rate, the diameter and the bisection. --svg draws it, --dot writes "
     "it "
     "for Graphviz; what looks alike is drawn once. With --collective the links "
     "are coloured and labelled by the share of their capacity that it takes. With a node, --set "
     "takes the node's keys (nic.gpu_direct=false) and those of the fabric that --fabric names "
     "(fabric.oversubscription=4).",
     {"clustersim topology dgx_h100", "clustersim topology dgx_h100 --nodes 4 --svg dgx.svg",
      "clustersim topology dgx1_v100 --collective all_reduce --svg dgx1.svg",
      "clustersim topology configs/dgx_h100.toml --json",
      "clustersim topology dgx_h100 --nodes 64 --fabric fat-tree-ndr"},
     {"--nodes", "--fabric", "--collective", "--size", "--ranks", "--algorithm", "--svg", "--dot",
      "--set", "--json", "--csv", "--output"},
     1,
     topology_verb},
    {"validate",
     "FILE.csv...",
     "predict published measurements, and say how far off",
     "Reads files of measured runs, recognised by their header. Rows outside the scope are "
     "skipped with the reason; no row is tuned for. With --fail-on QUANTITY=PERCENT, ends with 1 "
     "when the mean error is larger.",
     {"clustersim validate training_runs.csv", "clustersim validate *.csv --json -o errors.json",
      "clustersim validate training_runs.csv --fail-on step_time=15%"},
     {"--calibration", "--json", "--csv", "--output", "--fail-on", "--threads"},
     10000,
     validate_verb},
    {"calibrate",
     "FILE.csv... --chip NAME",
     "fit a chip's constants to measurements",
     "Reads the measurements of kernels that 'validate' reads, and takes the rows of one chip. "
     "Rows of one configuration count once. A constant is fitted when rows left out are then "
     "predicted better, by more than luck; often none is, and the catalogue's stand. --fit KEY "
     "fits exactly what it names (gemm.start, or a table such as gemm.burst), --hold KEY leaves it "
     "alone, --prior holds all constants that the rows are about near their values. Prints the "
     "error before, after, and of each row predicted by a fit to the others. -o FILE.toml writes "
     "the constants for --calibration and for a scenario's [calibration] use. Ends with 1, and "
     "writes nothing, when the rows do not determine what they are about: the report says what to "
     "measure. Measured collectives are refused: the constants of links stay the catalogue's.",
     {"clustersim calibrate gemm.csv --chip h100 -o h100.toml",
      "clustersim validate gemm.csv --calibration h100.toml",
      "clustersim calibrate gemm.csv --chip l40s --hold gemm.unit",
      "clustersim calibrate gemm.csv --chip h100 --prior 10% -o h100.toml"},
     {"--chip", "--output", "--fit", "--hold", "--prior", "--date", "--calibration", "--json",
      "--threads"},
     10000,
     calibrate_verb},
    {"help",
     "[VERB]",
     "this text, or help for a verb",
     "",
     {"clustersim help run"},
     {},
     1,
     help_verb},
    {"version", "", "print the version", "", {"clustersim version"}, {}, 0, version_verb},
    {"reference",
     "PAGE",
     "a page of docs/reference, from the tables that define it",
     "",
     {},
     {},
     1,
     reference_verb,
     true},
};

} // namespace

const std::vector<Verb>& verbs() {
  return table;
}

const Verb* find_verb(std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == table.end() ? nullptr : &*found;
}

} // namespace clustersim::cli
