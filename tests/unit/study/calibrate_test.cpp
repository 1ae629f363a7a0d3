// Rows made by the laws themselves with constants of our choosing: the fit must find these again.

#include "study/calibrate.hpp"

#include "base/text.hpp"
#include "foreign/csv.hpp"
#include "study/evidence.hpp"
#include "study/kernel_evidence.hpp"
#include "study/kernel_prediction.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

using Truth = std::vector<std::pair<std::string, double>>; // constant, share of the catalogue's

const std::string gemm_header = "chip,precision,M,N,K,batch,tflops,time_us,library,condition\n";

const Catalogue& catalogue() {
  static const Catalogue all({CLUSTERSIM_SOURCE_DIR});
  return all;
}

Chip h100() {
  Diagnostics out;
  const auto chip = load_chip(catalogue(), "h100-sxm5-80gb", out);
  REQUIRE(chip);
  return *chip;
}

double value_of(const Chip& chip, const std::string& key) {
  for (const CalibrationConstant& constant : constants_of(chip.kernels)) {
    if (constant.key == key) {
      REQUIRE(constant.value);
      return *constant.value;
    }
  }
  FAIL("no constant " << key);
  return 0;
}

Chip changed(const Truth& truth) {
  Chip chip = h100();
  for (const auto& [key, factor] : truth) {
    set_constant(chip.kernels, key, value_of(chip, key) * factor);
  }
  return chip;
}

std::string gemm_row(const std::string& precision, int m, int n, int k,
                     const std::string& condition = "burst_random") {
  return "h100_sxm," + precision + "," + std::to_string(m) + "," + std::to_string(n) + "," +
         std::to_string(k) + ",1,,1," + "cublas," + condition + "\n";
}

std::string large_gemms(const std::string& precision) {
  std::string rows;
  for (const int n : {4096, 8192, 16384}) {
    for (const int k : {4096, 8192, 12288}) {
      rows += gemm_row(precision, 8192, n, k);
    }
  }
  return rows;
}

std::string small_gemms(const std::string& precision) {
  std::string rows;
  for (const int m : {64, 128, 256}) {
    for (const int n : {128, 256, 384}) {
      rows += gemm_row(precision, m, n, 256);
    }
  }
  return rows;
}

std::string skinny_gemms(const std::string& precision) {
  std::string rows;
  for (const int m : {1, 8, 16}) {
    for (const int n : {8192, 12288, 16384}) {
      rows += gemm_row(precision, m, n, 16384);
    }
  }
  return rows;
}

std::string medium_gemms(const std::string& precision) {
  std::string rows;
  for (const int m : {1024, 2048, 3072}) {
    for (const int n : {1536, 2048, 3072}) {
      rows += gemm_row(precision, m, n, 2048);
    }
  }
  return rows;
}

const std::string attention_header = "chip,precision,batch,seqlen,heads,kv_heads,head_dim_qk,"
                                     "head_dim_v,causal,direction,tflops,time_us,library\n";

std::string attentions() {
  std::string rows;
  for (const int tokens : {128, 256, 512, 1024, 2048, 4096, 8192, 16384}) {
    for (const char* batch : {"2", "8"}) {
      rows += "h100_sxm,bf16," + std::string(batch) + "," + std::to_string(tokens) +
              ",16,16,128,128,0,fwd,,1,FlashAttention-3\n";
    }
  }
  return rows;
}

const std::string kernel_header =
    "chip,kernel,shape,bytes_moved,time_us,achieved_gbs,frac_of_peak_bw\n";

std::string norms() {
  std::string rows;
  for (const char* bytes : {"20000", "50000", "100000", "200000", "400000", "64000000", "96000000",
                            "128000000", "256000000", "512000000", "1024000000", "2048000000"}) {
    rows += std::string("h100_sxm,layernorm,x,") + bytes + ",1,,\n";
  }
  return rows;
}

/// A file of these rows whose times are the laws' own on `chip`, times `factor` of the row.
class Measurements {
public:
  template <class Factor>
  Measurements(const std::string& header, const std::string& rows, const Chip& chip,
               Factor factor) {
    static int number = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("clustersim_calibrate_" + std::to_string(getpid()) + "_" + std::to_string(++number) +
              ".csv"))
                .string();
    Diagnostics out;
    auto table = parse_csv(header + rows, path_, out);
    REQUIRE(table);
    const EvidenceKind* kind = recognise(*table);
    REQUIRE(kind != nullptr);
    const auto rules = load_kernel_rules(*kind, catalogue(), out);
    REQUIRE(rules);
    const std::vector<KernelRow> kernels = kernel_rows(*table, *kind, *rules, catalogue());
    const auto time = table->column("time_us");
    REQUIRE(time);
    std::string text = header;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      INFO(kernels[i].reason);
      REQUIRE(kernels[i].kernel);
      const double seconds = std::get<double>(predict_kernel(*kernels[i].kernel, chip));
      table->rows[i].fields[*time] = shortest(seconds * 1e6 * factor(i));
      for (std::size_t j = 0; j < table->header.size(); ++j) {
        text += (j > 0 ? "," : "") + table->rows[i].fields[j];
      }
      text += "\n";
    }
    std::ofstream(path_) << text;
  }
  Measurements(const std::string& rows, const Chip& chip)
      : Measurements(gemm_header, rows, chip, [](std::size_t) { return 1.0; }) {}
  ~Measurements() { std::filesystem::remove(path_); }
  Measurements(const Measurements&) = delete;
  Measurements& operator=(const Measurements&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

CalibrationFit fit_to(const std::vector<std::string>& paths, CalibrateOptions options = {}) {
  options.chip = "h100";
  Diagnostics out;
  auto fit = calibrate(paths, catalogue(), options, out);
  INFO(render(out, false));
  REQUIRE(fit);
  return *fit;
}

const FittedConstant* find(const CalibrationFit& fit, const std::string& key) {
  const auto found = std::find_if(fit.fitted.begin(), fit.fitted.end(),
                                  [&](const auto& one) { return one.constant.key == key; });
  return found == fit.fitted.end() ? nullptr : &*found;
}

const HeldConstant* find(const std::vector<HeldConstant>& list, const std::string& key) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const auto& one) { return one.constant.key == key; });
  return found == list.end() ? nullptr : &*found;
}

void check_found(const CalibrationFit& fit, const Truth& truth, double within) {
  CHECK_FALSE(fit.refused());
  const Chip before = h100();
  for (const auto& changed : truth) { // clang++ 14 captures no structured binding
    const auto& key = changed.first;
    const auto& factor = changed.second;
    CAPTURE(key);
    const FittedConstant* found = find(fit, key);
    REQUIRE(found != nullptr);
    CHECK(found->value == close_to(value_of(before, key) * factor, within));
    CHECK(found->constant.value == value_of(before, key));
  }
}

/// Every constant that was fitted is one of the truth's, or the catalogue's within two standard
/// errors.
void check_nothing_else(const CalibrationFit& fit, const Truth& truth) {
  for (const FittedConstant& one : fit.fitted) {
    const bool meant = std::any_of(truth.begin(), truth.end(), [&](const auto& changed) {
      return changed.first == one.constant.key;
    });
    CAPTURE(one.constant.key);
    const double away = std::fabs(std::log(one.value / one.constant.value.value_or(one.value)));
    CHECK((meant || away <= 2.0 * one.standard_error));
  }
}

/// Noise that is the same on every machine: a Weyl sequence of the golden ratio, from -1 to 1.
double noise(std::size_t row) {
  const double x = 0.6180339887498949 * static_cast<double>(row + 1);
  return 2.0 * (x - std::floor(x)) - 1.0;
}

const Truth three{{"gemm.burst.bf16", 0.9}, {"gemm.start", 1.5}, {"gemm.memory_fraction", 0.85}};

std::string rows_of_three() {
  return large_gemms("bf16") + small_gemms("bf16") + skinny_gemms("bf16");
}

} // namespace

TEST_CASE("constants behind rows are found again, and no others are touched") {
  const Measurements rows(rows_of_three(), changed(three));
  const CalibrationFit fit = fit_to({rows.path()});
  check_found(fit, three, 0.01);
  check_nothing_else(fit, three);
  CHECK(fit.before.figures.mape.value() > 5.0);
  CHECK(fit.after.figures.mape.value() < 0.1);
  CHECK(fit.left_out.figures.mape.value() < 0.1);
  CHECK(fit.condition < 30);
}

TEST_CASE("rows of one precision and condition free that share alone") {
  for (const char* precision : {"bf16", "fp8"}) {
    const std::string key = std::string("gemm.burst.") + precision;
    // Still above the sustained share, below which a burst does not fall.
    const Measurements rows(large_gemms(precision), changed({{key, 0.95}}));
    const CalibrationFit fit = fit_to({rows.path()});
    check_found(fit, {{key, 0.95}}, 2e-3);
    CHECK(fit.fitted.size() == 1);
  }
}

TEST_CASE("a share that the family lacks is fitted, not the one that stands in for it") {
  Chip chip = h100();
  REQUIRE_FALSE(chip.kernels.gemm.burst[Precision::tf32]);
  set_constant(chip.kernels, "gemm.burst.tf32", 0.8); // above the sustained share
  const Measurements rows(large_gemms("tf32"), chip);
  const CalibrationFit fit = fit_to({rows.path()});
  const FittedConstant* found = find(fit, "gemm.burst.tf32");
  REQUIRE(found != nullptr);
  CHECK_FALSE(found->constant.value);
  CHECK(found->value == close_to(0.8, 2e-3));
}

TEST_CASE("noise and outliers are borne") {
  // 3 % of noise everywhere, and every ninth row twice as slow as it should be.
  const auto factor = [](std::size_t i) {
    return (i % 9 == 4 ? 2.0 : 1.0) * (1.0 + 0.03 * noise(i));
  };
  const Measurements rows(gemm_header, rows_of_three(), changed(three), factor);
  const CalibrationFit fit = fit_to({rows.path()});
  check_found(fit, three, 0.03);
  check_nothing_else(fit, three);
  CHECK(fit.after.figures.median_ape.value() < 4.0);
  for (const auto& one : three) {
    CHECK(find(fit, one.first)->standard_error > 0.001);
    CHECK(find(fit, one.first)->standard_error < 0.1);
  }
}

TEST_CASE("one constant of a law lowered moves that constant and no other") {
  struct Lowered {
    std::string key;
    double factor;
  };
  const std::string gemms =
      large_gemms("bf16") + small_gemms("bf16") + skinny_gemms("bf16") + medium_gemms("bf16");
  const auto exactly = [](std::size_t) { return 1.0; };
  const auto nearly = [](std::size_t i) { return 1.0 + 0.02 * noise(i); };
  SUBCASE("GEMM") {
    for (const Lowered& one : {Lowered{"gemm.unit.bf16", 0.9}, Lowered{"gemm.burst.bf16", 0.9},
                               Lowered{"gemm.start", 0.7}, Lowered{"gemm.memory_fraction", 0.85}}) {
      for (const bool noisy : {false, true}) {
        CAPTURE(one.key);
        CAPTURE(noisy);
        const Truth truth{{one.key, one.factor}};
        const Measurements rows = noisy ? Measurements(gemm_header, gemms, changed(truth), nearly)
                                        : Measurements(gemm_header, gemms, changed(truth), exactly);
        const CalibrationFit fit = fit_to({rows.path()});
        check_found(fit, truth, noisy ? 0.02 : 2e-3);
        check_nothing_else(fit, truth);
      }
    }
  }
  SUBCASE("attention") {
    for (const Lowered& one : {Lowered{"attention.flash-3.forward.128", 0.85},
                               Lowered{"attention.flash-3.start", 0.6}}) {
      CAPTURE(one.key);
      const Truth truth{{one.key, one.factor}};
      const Measurements rows(attention_header, attentions(), changed(truth), nearly);
      const CalibrationFit fit = fit_to({rows.path()});
      check_found(fit, truth, 0.05);
      check_nothing_else(fit, truth);
    }
  }
  SUBCASE("memory-bound kernels") {
    for (const Lowered& one : {Lowered{"memory.classes.norm", 0.8}, Lowered{"memory.start", 3}}) {
      CAPTURE(one.key);
      const Truth truth{{one.key, one.factor}};
      const Measurements rows(kernel_header, norms(), changed(truth), nearly);
      const CalibrationFit fit = fit_to({rows.path()});
      check_found(fit, truth, 0.1);
      check_nothing_else(fit, truth);
    }
  }
}

TEST_CASE("constants of a memory-bound library are found") {
  std::string rows;
  for (const int tokens : {64, 512, 4096, 16384, 65536, 131072}) {
    rows += "h100_sxm,emb fp16,tokens=" + std::to_string(tokens) + "," +
            std::to_string(tokens * 32768L) + ",1,,,,a vidur profile,file\n";
  }
  const std::string header =
      "chip,kernel,shape,bytes_moved,time_us,achieved_gbs,frac_of_peak_bw,note,source,confidence\n";
  const Truth truth{{"memory.library.vllm-2023.gather.unit_bytes", 0.8}};
  const Measurements measured(header, rows, changed(truth), [](std::size_t) { return 1.0; });
  const CalibrationFit fit = fit_to({measured.path()});
  check_found(fit, truth, 0.01);
  check_nothing_else(fit, truth);
}

TEST_CASE("the catalogue's own rows leave it as it is") {
  const Measurements rows(gemm_header, rows_of_three(), h100(),
                          [](std::size_t i) { return 1.0 + 0.03 * noise(i); });
  const CalibrationFit fit = fit_to({rows.path()});
  CHECK_FALSE(fit.refused());
  CHECK(fit.fitted.empty());
  CHECK_FALSE(fit.confirmed.empty());
}

TEST_CASE("copies of a row are one row") {
  std::string copies;
  for (int i = 0; i < 40; ++i) {
    copies += gemm_row("bf16", 8192, 8192, 8192);
  }
  const Chip slower = changed({{"gemm.burst.bf16", 0.9}});
  const Measurements same(copies, slower);
  const CalibrationFit refused = fit_to({same.path()});
  CHECK(refused.refused());
  CHECK(refused.points == 1);
  const HeldConstant* lacking = find(refused.undetermined, "gemm.burst.bf16");
  REQUIRE(lacking != nullptr);
  CHECK(lacking->reason == "1 distinct row is about it, 3 are needed");
  // Beside other shapes they weigh as one, and do not narrow the error.
  const auto nearly = [](std::size_t i) { return i >= 9 ? 1.0 : 1.0 + 0.02 * noise(i); };
  const Measurements once(gemm_header, large_gemms("bf16"), slower, nearly);
  const std::string tenth = gemm_row("bf16", 8192, 4096, 4096); // the first of these again
  std::string many = large_gemms("bf16");
  for (int i = 0; i < 40; ++i) {
    many += tenth;
  }
  const Measurements often(gemm_header, many, slower, nearly);
  const CalibrationFit a = fit_to({once.path()}), b = fit_to({often.path()});
  REQUIRE(find(a, "gemm.burst.bf16") != nullptr);
  REQUIRE(find(b, "gemm.burst.bf16") != nullptr);
  CHECK(b.points == a.points);
  CHECK(find(b, "gemm.burst.bf16")->standard_error >
        0.5 * find(a, "gemm.burst.bf16")->standard_error);
}

TEST_CASE("too few rows are refused, with what to measure") {
  const Measurements rows(gemm_row("bf16", 8192, 8192, 8192) + gemm_row("bf16", 8192, 8192, 4096),
                          h100());
  const CalibrationFit fit = fit_to({rows.path()});
  CHECK(fit.refused());
  CHECK(fit.fitted.empty());
  const HeldConstant* lacking = find(fit.undetermined, "gemm.burst.bf16");
  REQUIRE(lacking != nullptr);
  CHECK(lacking->points == 2);
  CHECK(lacking->reason == "2 distinct rows are about it, 3 are needed");
  CHECK(lacking->measure.find("GEMMs of bf16") == 0);
}

TEST_CASE("a stray row stops nothing; a good part of the rows does") {
  const std::string stray = gemm_row("fp8", 8192, 8192, 8192);
  const Chip slower = changed({{"gemm.burst.bf16", 0.9}});
  const Measurements few(large_gemms("bf16") + stray, slower);
  const CalibrationFit held = fit_to({few.path()});
  CHECK_FALSE(held.refused());
  CHECK(find(held, "gemm.burst.bf16") != nullptr);
  CHECK(find(held.held, "gemm.unit.fp8") != nullptr);

  const Measurements many(large_gemms("bf16") + stray + gemm_row("fp8", 8192, 8192, 4096), slower);
  const CalibrationFit refused = fit_to({many.path()});
  CHECK(refused.refused());
  CHECK(find(refused.undetermined, "gemm.unit.fp8") != nullptr);

  CalibrateOptions as_asked;
  as_asked.hold = {"gemm.burst.fp8", "gemm.unit.fp8", "gemm.sustained.fp8"};
  const CalibrationFit left = fit_to({many.path()}, as_asked);
  CHECK_FALSE(left.refused());
  CHECK(find(left, "gemm.unit.fp8") == nullptr);
}

TEST_CASE("constants that the rows cannot tell apart are not both fitted") {
  const Measurements rows(small_gemms("bf16"), h100());
  CalibrateOptions both;
  both.fit = {"gemm.start", "launch.stream_gap"};
  const CalibrationFit fit = fit_to({rows.path()}, both);
  CHECK(fit.refused());
  REQUIRE(fit.undetermined.size() == 1);
  CHECK(fit.undetermined[0].reason.find("the rows cannot tell it from ") == 0);
  // By themselves: the one that is about fewer kernels.
  const Truth slower{{"gemm.start", 2.0}};
  const Measurements late(small_gemms("bf16"), changed(slower));
  const CalibrationFit one = fit_to({late.path()});
  check_found(one, slower, 2e-3);
  CHECK(one.fitted.size() == 1);
  const HeldConstant* gap = find(one.held, "launch.stream_gap");
  REQUIRE(gap != nullptr);
  CHECK(gap->reason.find("the rows cannot tell it from gemm.start") == 0);
}

TEST_CASE("a constant that is asked for and that no row is about is refused") {
  const Measurements rows(large_gemms("bf16"), h100());
  CalibrateOptions asked;
  asked.fit = {"memory.copy"};
  const CalibrationFit fit = fit_to({rows.path()}, asked);
  CHECK(fit.refused());
  const HeldConstant* lacking = find(fit.undetermined, "memory.copy");
  REQUIRE(lacking != nullptr);
  CHECK(lacking->measure == "copies and triads of 1 GB and more");
}

TEST_CASE("a prior lets few rows speak, within its share") {
  const Truth truth{{"gemm.burst.bf16", 0.88}}; // above the sustained share
  const Measurements rows(gemm_row("bf16", 8192, 8192, 8192), changed(truth));
  CalibrateOptions options;
  options.prior = 0.01;
  const CalibrationFit tight = fit_to({rows.path()}, options);
  options.prior = 1.0;
  const CalibrationFit loose = fit_to({rows.path()}, options);
  const double before = value_of(h100(), "gemm.burst.bf16");
  REQUIRE(find(tight, "gemm.burst.bf16") != nullptr);
  CHECK(find(tight, "gemm.burst.bf16")->value > 0.95 * before);
  check_found(loose, truth, 0.01);
}

TEST_CASE("rows of other chips are counted and left alone") {
  const std::string own = large_gemms("bf16");
  std::string rows = own;
  for (std::size_t at = 0; (at = rows.find("h100_sxm", at)) != std::string::npos;) {
    rows.replace(at, 8, "h200_sxm");
  }
  const Measurements both(own + rows, changed({{"gemm.burst.bf16", 0.9}}));
  const CalibrationFit fit = fit_to({both.path()});
  REQUIRE(fit.files.size() == 1);
  CHECK(fit.files[0].rows == 18);
  CHECK(fit.files[0].used == 9);
  CHECK(fit.files[0].other_chips == 9);
  CHECK(fit.rows.size() == 9);
}

TEST_CASE("the number of threads changes nothing") {
  const auto factor = [](std::size_t i) { return 1.0 + 0.05 * noise(i); };
  const Measurements rows(gemm_header, rows_of_three(), changed(three), factor);
  CalibrateOptions one, three_threads;
  one.threads = 1;
  three_threads.threads = 3;
  const CalibrationFit a = fit_to({rows.path()}, one), b = fit_to({rows.path()}, three_threads);
  REQUIRE(a.fitted.size() == b.fitted.size());
  for (std::size_t j = 0; j < a.fitted.size(); ++j) {
    CHECK(a.fitted[j].value == b.fitted[j].value);
    CHECK(a.fitted[j].standard_error == b.fitted[j].standard_error);
  }
}

TEST_CASE("what is no constant, chip or measurement is said") {
  const Measurements rows(large_gemms("bf16"), h100());
  const auto complaint = [&](CalibrateOptions options, const std::string& path) {
    options.chip = options.chip.empty() ? "h100" : options.chip;
    Diagnostics out;
    CHECK_FALSE(calibrate({path}, catalogue(), options, out));
    return render(out, false);
  };
  CalibrateOptions misspelt, unknown;
  misspelt.fit = {"gemm.strat"};
  unknown.chip = "h101-sxm5-80gb";
  CHECK(complaint(misspelt, rows.path()).find("did you mean \"gemm.start\"?") != std::string::npos);
  CHECK(complaint(unknown, rows.path()).find("did you mean") != std::string::npos);
  CHECK(complaint({}, "/no/such.csv").find("no such file") != std::string::npos);
}
