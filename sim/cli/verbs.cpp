#include "cli/verbs.hpp"

#include <algorithm>

namespace clustersim::cli {

namespace {

const std::vector<Verb> table{
    {"run",
     "CONFIG",
     "time one training step, and say what bounds it",
     "CONFIG is a scenario file, or the name of one that comes with clustersim. Ends with 3 when "
     "the model does not fit in memory: the report then names the largest term and the cheapest "
     "remedies.",
     {"clustersim run configs/dgx_h100.toml",
      "clustersim run dgx_h100 --set tensor=4 --set data=32",
      "clustersim run dgx_h100 --json | jq .results.mfu",
      "clustersim run dgx_h100 --fail-on step_time=8s -o report.json"},
     {"--set", "--json", "--output", "--fail-on"},
     1,
     run_verb},
    {"check",
     "FILE...",
     "read files and report every mistake, without running",
     "Takes scenarios, and files of the catalogue such as chips and nodes. Ends with 1 when "
     "something is wrong.",
     {"clustersim check my-cluster.toml", "clustersim check models/chips/*.toml"},
     {"--set"},
     10000,
     check_verb},
    {"list",
     "[KIND]",
     "what the catalogue holds",
     "KIND is chips, transformers, nodes, fabrics, links, stacks, recipes, calibrations or "
     "configs; without it, how many there are of each. -v adds other names that mean the same.",
     {"clustersim list", "clustersim list chips", "clustersim list transformers --json"},
     {"--json", "--csv", "--output"},
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
     {"--set", "--json", "--output"},
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
    {"roofline",
     "--chip NAME...",
     "roofs and ridge points of chips, as table and plot",
     "One chip: every number format it has. Several: one line each, at a format all of them "
     "have.",
     {"clustersim roofline --chip h100", "clustersim roofline --chip h100 h200 b200",
      "clustersim roofline --chip rtx-4090 --precision bf16 --csv"},
     {"--chip", "--precision", "--json", "--csv", "--output"},
     64,
     roofline_verb},
    {"collective",
     "KIND --topology NAME",
     "time and bandwidth of a collective, by size",
     "KIND is all_reduce, all_gather, reduce_scatter, all_to_all, broadcast or send_recv. Sizes "
     "and "
     "bandwidths follow nccl-tests. The last column names the edge that sets the rate, or latency "
     "where that takes more than half of the time; -v adds the protocol.",
     {"clustersim collective all_reduce --topology dgx_h100",
      "clustersim collective all_reduce --topology dgx_h100 --nodes 4 --ranks 32",
      "clustersim collective all_gather --topology dgx_h100 --sizes 1MiB..1GiB:x4",
      "clustersim collective all_to_all --topology configs/dgx_h100.toml --csv"},
     {"--topology", "--nodes", "--fabric", "--ranks", "--sizes", "--algorithm", "--concurrent",
      "--set", "--json", "--csv", "--output"},
     1,
     collective_verb},
    {"validate",
     "FILE.csv...",
     "predict published measurements, and say how far off",
     "Reads files of measured runs, recognised by their header. Rows outside the scope are "
     "skipped with the reason; no row is tuned for. With --fail-on QUANTITY=PERCENT, ends with 1 "
     "when the mean error is larger.",
     {"clustersim validate training_runs.csv", "clustersim validate *.csv --json -o errors.json",
      "clustersim validate training_runs.csv --fail-on step_time=15%"},
     {"--json", "--csv", "--output", "--fail-on", "--threads"},
     10000,
     validate_verb},
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
