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
    for (const FittedConstant& one : fit.fitted) {
      CHECK(one.constant.key.ends_with(std::string(".") + precision));
    }
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
  CHECK(fit.after.figures.median_ape.value() < 4.0);
  for (const auto& one : three) {
    CHECK(find(fit, one.first)->standard_error > 0.001);
    CHECK(find(fit, one.first)->standard_error < 0.1);
  }
}

TEST_CASE("kernels of other laws free constants of theirs") {
  const std::string header = "chip,kernel,shape,bytes_moved,time_us,achieved_gbs,frac_of_peak_bw\n";
  std::string rows;
  for (const int megabytes : {512, 1024, 2048, 4096}) {
    rows += "h100_sxm,layernorm,x," + std::to_string(megabytes) + "000000,1,,\n";
  }
  const Truth truth{{"memory.classes.norm", 1.2}};
  const Measurements measured(header, rows, changed(truth), [](std::size_t) { return 1.0; });
  check_found(fit_to({measured.path()}), truth, 2e-3);
}

TEST_CASE("too few rows are refused, with what to measure") {
  const Measurements rows(gemm_row("bf16", 8192, 8192, 8192) + gemm_row("bf16", 8192, 8192, 4096),
                          h100());
  const CalibrationFit fit = fit_to({rows.path()});
  CHECK(fit.refused());
  CHECK(fit.fitted.empty());
  const HeldConstant* lacking = find(fit.undetermined, "gemm.burst.bf16");
  REQUIRE(lacking != nullptr);
  CHECK(lacking->rows == 2);
  CHECK(lacking->reason == "2 rows are about it, 3 are needed");
  CHECK(lacking->measure.find("GEMMs of bf16") == 0);
}

TEST_CASE("a stray row stops nothing; a good part of the rows does") {
  const std::string stray = gemm_row("fp8", 8192, 8192, 8192);
  const Measurements few(large_gemms("bf16") + large_gemms("bf16") + stray, h100());
  const CalibrationFit held = fit_to({few.path()});
  CHECK_FALSE(held.refused());
  CHECK(find(held, "gemm.burst.bf16") != nullptr);
  CHECK(find(held.held, "gemm.unit.fp8") != nullptr);

  const Measurements many(large_gemms("bf16") + stray + stray, h100());
  const CalibrationFit refused = fit_to({many.path()});
  CHECK(refused.refused());
  REQUIRE(refused.undetermined.size() == 1);
  CHECK(refused.undetermined[0].constant.key == "gemm.unit.fp8");

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
  check_found(fit_to({rows.path()}), {{"gemm.start", 1.0}}, 2e-3); // by themselves: one of them
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
