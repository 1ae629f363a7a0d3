#include "study/error_figures.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

ValidatedRow scored(double predicted, double measured) {
  ValidatedRow row;
  row.quantity = "step_time";
  row.status = RowStatus::ok;
  row.predicted = predicted;
  row.measured = measured;
  row.ratio = predicted / measured;
  return row;
}

std::vector<const ValidatedRow*> all(const std::vector<ValidatedRow>& rows) {
  std::vector<const ValidatedRow*> pointers;
  for (const ValidatedRow& row : rows) {
    pointers.push_back(&row);
  }
  return pointers;
}

} // namespace

TEST_CASE("error figures follow their definitions") {
  // errors: -20 %, +10 %, 0 %
  std::vector<ValidatedRow> rows{scored(0.8, 1.0), scored(2.2, 2.0), scored(3.0, 3.0)};
  rows.emplace_back().status = RowStatus::failed;
  rows.emplace_back().status = RowStatus::skipped;
  rows.emplace_back().status = RowStatus::skipped;
  const ErrorFigures figures = error_figures(all(rows));
  CHECK(figures.rows == 6);
  CHECK(figures.failed == 1);
  CHECK(figures.skipped == 2);
  CHECK(figures.scored() == 3);
  CHECK(*figures.mape == close_to((20.0 + 10.0 + 0.0) / 3));
  CHECK(*figures.bias == close_to((-20.0 + 10.0 + 0.0) / 3));
  CHECK(*figures.median_ape == close_to(10.0));
  // sorted magnitudes 0, 10, 20; the 0.9 quantile stands at position 0.9 · 2 = 1.8
  CHECK(*figures.p90_ape == close_to(10.0 + 0.8 * (20.0 - 10.0)));
  CHECK_FALSE(figures.in_range);
}

TEST_CASE("without scored rows there are no figures") {
  std::vector<ValidatedRow> rows(2);
  const ErrorFigures figures = error_figures(all(rows));
  CHECK(figures.skipped == 2);
  CHECK_FALSE(figures.mape);
  CHECK_FALSE(figures.p90_ape);
}

TEST_CASE("in_range counts only rows that state a range") {
  std::vector<ValidatedRow> rows{scored(1.0, 1.0), scored(1.0, 2.0), scored(1.0, 1.0)};
  rows[0].low = rows[1].low = 0.9;
  rows[0].high = rows[1].high = 1.1;
  CHECK(*error_figures(all(rows)).in_range == close_to(100.0 * 1 / 2));
}

TEST_CASE("quantiles interpolate and clamp") {
  const std::vector<double> values{1, 2, 4};
  CHECK(quantile(values, 0.0) == 1);
  CHECK(quantile(values, 0.5) == 2);
  CHECK(quantile(values, 0.75) == close_to(2 + 0.5 * (4 - 2)));
  CHECK(quantile(values, 1.0) == 4);
  CHECK(quantile({7}, 0.9) == 7);
}

TEST_CASE("groups come by label, scales in order of size, empty labels in none") {
  ValidationReport report;
  std::vector<ValidatedRow> rows{scored(1, 1), scored(2, 1), scored(1, 1)};
  rows[0].labels.scale = "> 512";
  rows[1].labels.scale = "2-8";
  rows[2].labels.scale = "1";
  rows[0].labels.source = "b";
  rows[1].labels.source = "a";
  report.files.push_back({"x.csv", "training runs", rows});
  summarise(report);
  REQUIRE(report.summary.size() == 1);
  CHECK(report.summary[0].figures.rows == 3);
  REQUIRE(report.groups.size() == 5);
  CHECK(report.groups[0].name == "a");
  CHECK(*report.groups[0].figures.mape == close_to(100.0));
  CHECK(report.groups[1].name == "b");
  CHECK(report.groups[2].name == "1");
  CHECK(report.groups[3].name == "2-8");
  CHECK(report.groups[4].name == "> 512");
}

TEST_CASE("a job's size falls into one bucket") {
  CHECK(scale_of(1) == "1");
  CHECK(scale_of(2) == "2-8");
  CHECK(scale_of(8) == "2-8");
  CHECK(scale_of(9) == "9-64");
  CHECK(scale_of(512) == "65-512");
  CHECK(scale_of(513) == "> 512");
}
