// Published kernel timings: how a row becomes the input of a law, and what the law then says.

#include "study/kernel_evidence.hpp"

#include "study/kernel_prediction.hpp"
#include "study/validate_kernels.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <stdexcept>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

const Catalogue& catalogue() {
  static const Catalogue all({CLUSTERSIM_SOURCE_DIR});
  return all;
}

const EvidenceKind& kind_named(std::string_view name) {
  for (const EvidenceKind& kind : evidence_kinds()) {
    if (kind.name == name) {
      return kind;
    }
  }
  throw std::logic_error("no such kind");
}

CsvTable table(const std::string& text) {
  Diagnostics out;
  std::optional<CsvTable> parsed = parse_csv(text, "t.csv", out);
  REQUIRE(parsed);
  return *parsed;
}

std::vector<KernelRow> rows(std::string_view kind, const std::string& text) {
  Diagnostics out;
  const std::optional<ResolverRules> rules = load_kernel_rules(kind_named(kind), catalogue(), out);
  REQUIRE(rules);
  return kernel_rows(table(text), kind_named(kind), *rules, catalogue());
}

Chip chip(std::string_view name) {
  Diagnostics out;
  std::optional<Chip> loaded = load_chip(catalogue(), name, out);
  REQUIRE(loaded);
  return *loaded;
}

double predicted(const KernelRow& row) {
  REQUIRE_MESSAGE(row.kernel, row.reason);
  const KernelPrediction prediction = predict_kernel(*row.kernel, chip(row.kernel->chip));
  REQUIRE(std::holds_alternative<double>(prediction));
  return std::get<double>(prediction);
}

const std::string gemm_header = "chip,precision,M,N,K,batch,tflops,time_us,layout,library,"
                                "condition,power_w,power_cap_w,source,confidence\n";

KernelRow gemm(const std::string& line) {
  return rows("gemm", gemm_header + line + "\n").front();
}

} // namespace

TEST_CASE("a GEMM row is predicted by the law that `run` uses, under its own condition") {
  const KernelRow row =
      gemm("h100_sxm,bf16,4096,4096,4096,1,0,200,,pytorch,sustained_random,,,x,file");
  REQUIRE(row.kernel);
  CHECK(row.kernel->chip == "h100-sxm5-80gb");
  CHECK(row.kernel->measured == close_to(200e-6));
  Stack stack;
  const Device sustained = make_device(chip("h100"), stack, {}, {}, Condition::sustained);
  const GemmShape shape{4096, 4096, 4096, 1, Precision::bf16, Precision::bf16};
  CHECK(predicted(row) == gemm_time(shape, sustained).time.total.si());
  const Device burst = make_device(chip("h100"), stack, {}, {}, Condition::burst);
  CHECK(predicted(gemm("h100_sxm,bf16,4096,4096,4096,1,0,200,,pytorch,burst_random,,,x,file")) ==
        gemm_time(shape, burst).time.total.si());
  const Device capped = make_device(chip("h100"), stack, {Watts{450}, 1.0});
  CHECK(predicted(gemm("h100_sxm,bf16,4096,4096,4096,1,0,200,,pytorch,loop,,450,x,file")) ==
        gemm_time(shape, capped).time.total.si());
}

TEST_CASE("what a library times with the product is part of its time, and said") {
  const KernelRow row = gemm("h100_sxm,fp8,4096,2048,1024,1,0,50,,trtllm 1,burst_random,,,x,file");
  REQUIRE(row.kernel);
  REQUIRE(row.kernel->work.size() == 1);
  const auto& shape = std::get<GemmShape>(row.kernel->work.front());
  CHECK(shape.precision == Precision::fp8);
  CHECK(row.kernel->setting.gap == LaunchGap::graph);
  CHECK(row.kernel->assumptions.size() == 1);
  CHECK(predicted(row) ==
        gemm_time(shape, device_for(row.kernel->setting, chip("h100"))).time.total.si());
  KernelSetting bare = row.kernel->setting;
  bare.occasion.gemm_library.clear(); // no cast of the operand
  CHECK(predicted(row) > gemm_time(shape, device_for(bare, chip("h100"))).time.total.si());
}

TEST_CASE("layouts of a training sweep name the pass; elsewhere they do not") {
  const auto role = [](const std::string& layout, const std::string& library) {
    const KernelRow row = gemm("a100_pcie_80,bf16,4096,4096,4096,1,0,500," + layout + "," +
                               library + ",loop_random,,,x,file");
    REQUIRE(row.kernel);
    return std::get<GemmShape>(row.kernel->work.back());
  };
  CHECK(role("TN", "TransformerEngine/cuBLAS").role == GemmRole::forward);
  CHECK(role("NN", "TransformerEngine/cuBLAS").role == GemmRole::data_gradient);
  const GemmShape weights = role("NT", "TransformerEngine/cuBLAS");
  CHECK(weights.role == GemmRole::weight_gradient);
  CHECK(weights.accumulate);
  CHECK(weights.output == Precision::fp32);
  CHECK(role("NT", "cuBLAS").role == GemmRole::forward);
}

TEST_CASE("a profiler's kernel time holds no gap") {
  const KernelRow row =
      gemm("a100_sxm_80,fp16,1024,1024,1024,1,0,20,,vidur,profiler_kernel,,,x,file");
  REQUIRE(row.kernel);
  CHECK(device_for(row.kernel->setting, chip(row.kernel->chip)).gap == Seconds{});
}

TEST_CASE("rows that cannot be used say why") {
  const std::array<std::pair<std::string, std::string>, 7> cases{
      {{"abacus,bf16,1,1,1,1,0,5,,a,loop,,,x,file", "chip 'abacus' is not in the catalogue"},
       {"h100_sxm,bf16,0,1,1,1,0,5,,a,loop,,,x,file",
        "M is '0', which is no whole number from 1 to 1000000000"},
       {"h100_sxm,bf16,,1,1,1,0,5,,a,loop,,,x,file", "the row does not say M"},
       {"h100_sxm,bf61,1,1,1,1,0,5,,a,loop,,,x,file", "no number format 'bf61'"},
       {"h100_sxm,bf16,1,1,1,1,0,,,a,loop,,,x,file", "no time_us is measured"},
       {"h100_sxm,bf16,1,1,1,1,0,nan,,a,loop,,,x,file",
        "time_us is 'nan', which is no finite number"},
       {"h100_sxm,bf16,1,1,1,1,0,-5,,a,loop,,,x,file", "time_us is no plausible measurement"}}};
  for (const auto& [line, reason] : cases) {
    const KernelRow row = gemm(line);
    CHECK_FALSE(row.kernel);
    CHECK(row.reason == reason);
  }
  CHECK(gemm("a100,bf16,1,1,1,1,0,5,,a,loop,,,x,file").reason.find("can be any of a100-") !=
        std::string::npos);
}

TEST_CASE("forward and backward of one timing are both paid; GQA and MLA keep their widths") {
  const std::string header = "chip,precision,batch,seqlen,heads,kv_heads,head_dim_qk,head_dim_v,"
                             "causal,direction,tflops,time_us,library,source,confidence\n";
  const auto one = [&](const std::string& direction) {
    return rows("attention", header + "h100_sxm,bf16,2,4096,32,8,192,128,1," + direction +
                                 ",0,900,FlashAttention-2,x,file\n")
        .front();
  };
  const KernelRow both = one("fwd+bwd");
  REQUIRE(both.kernel);
  REQUIRE(both.kernel->work.size() == 2);
  const auto& shape = std::get<AttentionShape>(both.kernel->work.front());
  CHECK(shape.kv_heads == 8);
  CHECK(shape.head_dim == 192);
  CHECK(shape.value_dim == 128);
  CHECK(predicted(both) == close_to(predicted(one("fwd")) + predicted(one("bwd"))));
  const KernelRow lost = rows("attention", header + "p100-sxm2-16gb,fp16,1,128,8,8,64,64,0,fwd,0,9,"
                                                    "FlashAttention-2,x,file\n")
                             .front();
  REQUIRE(lost.kernel);
  CHECK(std::holds_alternative<std::string>(predict_kernel(*lost.kernel, chip("p100-sxm2-16gb"))));
}

TEST_CASE("a cap is compared with the uncapped reading of the same workload") {
  const std::string header = "chip,workload,power_cap_w,avg_power_w,sm_clock_mhz,perf,perf_unit,"
                             "rel_perf,note,source,confidence\n";
  const std::vector<KernelRow> found =
      rows("power", header + "v100_pcie_32,train a,100,95,,200,s/epoch,,,x,file\n"
                             "v100_pcie_32,train a,250,180,,100,s/epoch,,,x,file\n"
                             "v100_pcie_32,train b,200,90,,50,TFLOP/s,,,x,file\n"
                             "v100_pcie_32,train b,250,90,,50,TFLOP/s,,,x,file\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0].kernel->measured == 100.0 / 200.0); // less time is more performance
  CHECK_FALSE(found[1].kernel);
  CHECK(found[1].reason == "an uncapped reading: others are compared with it");
  const Chip v100 = chip("v100-pcie-32gb");
  const PowerCalibration& power = v100.kernels.power;
  const double fixed = v100.power.tdp.si() * power.fixed;
  const double clock = std::pow((100.0 - fixed) / (180.0 - fixed), 1.0 / power.exponent);
  CHECK(predicted(found[0]) == close_to(1.0 / (0.4 + 0.6 / clock))); // 60 % follow the clock
  CHECK(predicted(found[2]) == 1.0); // draws less than its cap: nothing to lose
}

TEST_CASE("every rule of every kernel kind names something that exists") {
  for (const EvidenceKind& kind : evidence_kinds()) {
    if (!is_kernel_kind(kind)) {
      continue;
    }
    Diagnostics out;
    const std::optional<ResolverRules> rules = load_kernel_rules(kind, catalogue(), out);
    REQUIRE(rules);
    for (const ResolverRule& rule : *rules) {
      const bool plain = rule.value.find('{') == std::string::npos;
      if (rule.key == "class") {
        CHECK_MESSAGE(kernel_class_from(rule.value), rule.value);
      } else if ((rule.key == "precision" || rule.key == "output") && plain) {
        CHECK_MESSAGE(precision_from(rule.value), rule.value);
      } else if (rule.key == "chip" && plain) {
        CHECK_MESSAGE(catalogue().find(Kind::chip, rule.value).size() == 1, rule.value);
      } else if (rule.key == "skip") {
        CHECK_FALSE(rule.says.empty());
      }
    }
  }
}

TEST_CASE("tables are labelled for their groups") {
  Diagnostics out;
  const auto file = validate_kernels(
      table(gemm_header +
            "h100_sxm,bf16,8192,8192,8192,1,0,2000,,pytorch,sustained_random,,,lab,file\n"
            "h100_sxm,bf16,256,256,256,1,0,20,,pytorch,sustained_random,,,lab,file\n"
            "h100_sxm,bf16,8,8192,8192,1,0,20,,pytorch,sustained_random,,,lab,file\n"),
      kind_named("gemm"), catalogue(), out);
  REQUIRE(file);
  CHECK(file->rows[0].labels.library == "pytorch");
  CHECK(file->rows[0].labels.condition == "sustained_random");
  CHECK(file->rows[0].labels.source == "lab");
  CHECK(file->rows[0].labels.size == "> 50 GFLOP");
  CHECK(file->rows[1].labels.size == ">= 256");
  CHECK(file->rows[2].labels.size == "< 256");
  CHECK(*file->rows[0].ratio == *file->rows[0].predicted / 2e-3);
}
