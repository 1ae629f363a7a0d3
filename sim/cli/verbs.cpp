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
     {"--set", "--calibration", "--json", "--output", "--fail-on"},
     1,
     run_verb},
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
    {"roofline",
     "--chip NAME...",
     "roofs and ridge points of chips, as table and plot",
     "One chip: every number format it has. Several: one line each, at a format all of them "
     "have.",
     {"clustersim roofline --chip h100", "clustersim roofline --chip h100 h200 b200",
      "clustersim roofline --chip rtx-4090 --precision bf16 --csv"},
     {"--chip", "--precision", "--calibration", "--json", "--csv", "--output"},
     64,
     roofline_verb},
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
     "Which constants are fitted follows from what the rows are about; --fit and --hold say "
     "otherwise, with a key such as gemm.start or a table such as gemm.burst. Prints the error "
     "before, after, and of each row predicted by a fit to the others. -o FILE.toml writes the "
     "constants for --calibration and for a scenario's [calibration] use. Ends with 1, and writes "
     "nothing, when the rows do not determine what they are about: the report says what to "
     "measure.",
     {"clustersim calibrate gemm.csv --chip h100 -o h100.toml",
      "clustersim validate gemm.csv --calibration h100.toml",
      "clustersim calibrate gemm.csv --chip l40s --hold gemm.sustained.tf32",
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
