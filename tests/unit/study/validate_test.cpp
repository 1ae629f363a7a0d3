#include "study/validate.hpp"

#include "pipeline.hpp"
#include "spec/load.hpp"
#include "study/resolver_rules.hpp"
#include "study/training_run_resolver.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

const std::string header =
    "id,source,model_name,layers,hidden,heads,kv_heads,ffn_hidden,vocab,seq_len,gated_mlp,chip,num_"
    "chips,"
    "chips_per_node,scaleup_link,scaleout_link,precision,framework,tp,pp,cp,dp,zero_or_fsdp_stage,"
    "sequence_parallel,recompute,micro_batch,global_batch_seqs,step_time_s,peak_memory_gb,notes,"
    "core\n";

// Llama 3 8B on one DGX H100, as a table of published runs has it.
const std::string good = "a,lab,llama3-8b,32,4096,32,8,14336,128256,8192,1,H100-SXM5-80GB,8,8,"
                         "NVLink4,,bf16,NeMo 24.07,2,1,1,"
                         "4,1,1,none,1,128,8.0,50,,1\n";

const Catalogue& catalogue() {
  static const Catalogue all({CLUSTERSIM_SOURCE_DIR});
  return all;
}

ResolverRules rules() {
  Diagnostics out;
  const std::optional<ResolverRules> loaded =
      load_resolver_rules("training-runs", catalogue(), out);
  REQUIRE(loaded);
  return *loaded;
}

CsvTable table(const std::string& rows) {
  Diagnostics out;
  std::optional<CsvTable> parsed = parse_csv(header + rows, "t.csv", out);
  REQUIRE(parsed);
  return *parsed;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

struct TemporaryFile {
  explicit TemporaryFile(const std::string& text)
      : path(std::filesystem::temp_directory_path() /
             ("clustersim_validate_" + std::to_string(getpid()) + ".csv")) {
    std::ofstream(path) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::filesystem::path path;
};

ValidationReport validated(const std::string& text, Diagnostics& out, int threads = 1) {
  const TemporaryFile file(text);
  return validate({file.path.string()}, catalogue(), {threads}, out);
}

ValidatedRow only_row(const std::string& row) {
  Diagnostics out;
  const ValidationReport report = validated(header + row, out);
  CHECK(out.empty());
  REQUIRE(report.files.size() == 1);
  REQUIRE_FALSE(report.files[0].rows.empty());
  return report.files[0].rows[0];
}

} // namespace

TEST_CASE("a row in scope gets the step time and the memory that `run` would answer") {
  const CsvTable t = table(good);
  const ResolvedRun run = resolve_training_run(t, 0, rules(), catalogue());
  REQUIRE(run.scenario);
  CHECK(run.scenario->model.layers == 32);
  CHECK(run.scenario->model.kv_heads == 8);
  CHECK(run.scenario->cluster.chips() == 8);
  CHECK(run.scenario->plan.tensor == 2);
  CHECK(run.scenario->plan.data == 8 / 2);
  CHECK(run.scenario->training.stack.id == "nemo-2024");
  // The inline shape is the catalogue's: embedding, head and 32 layers of Llama 3 8B.
  CHECK(count_parameters(run.scenario->model).total == 8030261248);

  Diagnostics out;
  const ValidationReport report = validated(header + good, out);
  REQUIRE(report.files[0].rows.size() == 2);
  const Answer answered = answer(*run.scenario);
  const ValidatedRow& time = report.files[0].rows[0];
  CHECK(time.status == RowStatus::ok);
  CHECK(*time.predicted == close_to(answered.timeline.step.si(), 1e-12));
  CHECK(*time.ratio == *time.predicted / 8.0);
  const ValidatedRow& memory = report.files[0].rows[1];
  CHECK(memory.quantity == "peak_memory");
  CHECK(*memory.predicted == close_to(answered.memory.peak.si() / (1024.0 * 1024 * 1024)));
  CHECK(time.labels.core == "core");
  CHECK(time.labels.scale == "2-8");
}

TEST_CASE("a driver's memory figure is compared with peak and reserve together") {
  const CsvTable t = table(replaced(good, ",50,,1", ",50,memory from nvidia-smi,1"));
  CHECK(compose_training_run(t, 0, rules(), catalogue()).memory_level == MemoryLevel::driver);
  CHECK(compose_training_run(table(good), 0, rules(), catalogue()).memory_level ==
        MemoryLevel::allocator);
}

TEST_CASE("pipelines, shared sequences and sharded weights are in scope") {
  for (const char* axes : {"2,4,1,1,1,1", "2,1,2,2,1,1", "2,1,1,4,3,1"}) {
    CAPTURE(axes);
    const ValidatedRow row = only_row(replaced(good, "2,1,1,4,1,1", axes));
    CHECK(row.status == RowStatus::ok);
    CHECK(row.reason == "");
  }
}

TEST_CASE("what is out of scope is skipped with its reason") {
  CHECK(only_row(replaced(good, ",50,,1", ",50,SUSPECT clock,1")).reason ==
        "marked SUSPECT in its notes");
  CHECK(only_row(replaced(good, "H100-SXM5-80GB", "Abacus-9000")).reason ==
        "chip 'Abacus-9000' is not in the catalogue");
  CHECK(only_row(replaced(good, ",8.0,50,", ",,,")).reason == "no step_time_s is measured");
  CHECK(only_row(replaced(good, ",8.0,50,", ",-3,,")).reason ==
        "step_time_s is no plausible measurement");
  CHECK(only_row(replaced(good, "H100-SXM5-80GB", "Abacus-9000")).status == RowStatus::skipped);
}

TEST_CASE("numbers that are no counts skip the row, however large, and never crash") {
  for (const std::string bad :
       {"1e300", "-4", "0.5", "abc", "nan", "99999999999999999999", "0x20"}) {
    const ValidatedRow row = only_row(replaced(good, "32,4096", bad + ",4096"));
    CHECK(row.status == RowStatus::skipped);
    CHECK(row.reason == "layers is '" + bad + "', which is no whole number from 1 to 1000000000");
  }
  // In range each, absurd together: refused or predicted, but with a reason and without a crash.
  const ValidatedRow huge = only_row(replaced(
      replaced(good, "32,4096,32,8", "999999999,999999999,32,8"), "8192,1", "999999999,1"));
  CHECK(huge.status != RowStatus::ok);
  CHECK_FALSE(huge.reason.empty());
}

TEST_CASE("an unlisted framework takes a stand-in and says so") {
  const ValidatedRow row = only_row(replaced(good, "NeMo 24.07", "Abacus Trainer"));
  CHECK(row.status == RowStatus::ok);
  REQUIRE_FALSE(row.assumptions.empty());
  CHECK(row.assumptions.back() ==
        "no rule knows the framework 'Abacus Trainer': Megatron-Core stands in");
}

TEST_CASE("results do not depend on the number of threads") {
  std::string text = header;
  for (int row = 0; row < 40; ++row) {
    text += replaced(good, "128,8.0", std::to_string(4 * (row + 1)) + ",8.0");
  }
  Diagnostics out;
  const ValidationReport one = validated(text, out, 1);
  const ValidationReport many = validated(text, out, 4);
  REQUIRE(one.files[0].rows.size() == many.files[0].rows.size());
  for (std::size_t row = 0; row < one.files[0].rows.size(); ++row) {
    CHECK(one.files[0].rows[row].index == many.files[0].rows[row].index);
    CHECK(one.files[0].rows[row].predicted == many.files[0].rows[row].predicted);
  }
  CHECK(one.summary[0].figures.mape == many.summary[0].figures.mape);
}

TEST_CASE("a cell that is no number is said to be one, and never hides its neighbour") {
  for (const std::string bad : {"abc", "nan", "1e400", "inf", "0x20"}) {
    const ValidatedRow row = only_row(replaced(good, ",8.0,50,", "," + bad + ",,"));
    CHECK(row.status == RowStatus::skipped);
    CHECK(row.reason == "step_time_s is '" + bad + "', which is no finite number");
  }
  Diagnostics out;
  const ValidationReport report = validated(header + replaced(good, ",8.0,50,", ",8.0,many,"), out);
  REQUIRE(report.files[0].rows.size() == 2);
  CHECK(report.files[0].rows[0].status == RowStatus::ok);
  CHECK(report.files[0].rows[1].status == RowStatus::skipped);
  CHECK(report.files[0].rows[1].reason == "peak_memory_gb is 'many', which is no finite number");
}

TEST_CASE("vTrain's own table is predicted as the training runs it holds") {
  Diagnostics out;
  const ValidationReport report =
      validated("source,gpu,num_gpus,tp,dp,pp,global_batch,micro_batch,hidden,heads,layers,seq_len,"
                "measured_iter_ms\n"
                "vTrain ground_truth_multi,A100,64,8,8,1,512,8,3072,32,30,2048,5178.0\n"
                "vTrain ground_truth_multi,A100,64,8,4,2,512,8,3072,32,30,2048,5178.0\n",
                out);
  REQUIRE(report.files.size() == 1);
  CHECK(report.files[0].kind == "vtrain");
  const ValidatedRow& row = report.files[0].rows[0];
  CHECK(row.status == RowStatus::ok);
  CHECK(row.id == "tp8-pp1-dp8-h3072-l30-b8-g512");
  CHECK(*row.measured == close_to(5178.0 / 1000));
  CHECK(row.labels.stack == "megatron-lm-2021");
  CHECK(report.files[0].rows[1].status == RowStatus::ok);
  CHECK(report.files[0].rows[1].id == "tp8-pp2-dp4-h3072-l30-b8-g512");
}

TEST_CASE("an unknown header is bad input and names the nearest kind") {
  Diagnostics out;
  const ValidationReport report = validated("id,chip,layers\na,b,1\n", out);
  CHECK(report.files.empty());
  CHECK(out.exit_code() == ExitCode::bad_input);
  CHECK(out.sorted().front().message == "the header names no known kind of evidence");
  CHECK(out.sorted().front().suggestion.find("training runs") != std::string::npos);
}

TEST_CASE("every node, fabric and stack that a rule names is in the catalogue") {
  const std::vector<std::pair<std::string, Kind>> kinds{{"cluster.node", Kind::node},
                                                        {"cluster.fabric", Kind::fabric},
                                                        {"training.stack", Kind::stack}};
  std::size_t seen = 0;
  for (const ResolverRule& rule : rules()) {
    for (const auto& [key, kind] : kinds) {
      if (rule.key == key) {
        CHECK_MESSAGE(catalogue().find(kind, rule.value).size() == 1, rule.value);
        ++seen;
      }
    }
  }
  CHECK(seen > 50);
}

TEST_CASE("every stand-in and every default of a rule is said") {
  // Rules that set a value without a condition and without naming a column are defaults: only those
  // that the shape of the model implies may be silent.
  for (const ResolverRule& rule : rules()) {
    const bool is_default = rule.when.empty() && rule.value.find('{') == std::string::npos;
    if (is_default && (rule.key.starts_with("plan.") || rule.key.starts_with("training."))) {
      const bool silent_is_right = rule.key == "plan.sequence_parallel";
      CHECK_MESSAGE((silent_is_right || !rule.says.empty()), rule.key);
    }
  }
}
