#include "study/sweep.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {

std::vector<std::string> values(std::string_view text) {
  RangeError error;
  const auto axis = parse_sweep_axis(text, error);
  return axis ? axis->values : std::vector<std::string>{"refused: " + error.message};
}

bool refused(std::string_view text) {
  RangeError error;
  const auto axis = parse_sweep_axis(text, error);
  return !axis && !error.message.empty();
}

Sweep two_by_two() {
  RangeError error;
  return plan_sweep({{"a", {"1", "2"}}, {"b", {"x", "y"}}}, error).value();
}

CsvTable table_of(const std::string& text) {
  Diagnostics out;
  return parse_csv(text, "saved.csv", out).value();
}

const std::string head = "a,b,status,reason,inputs,step_time_s,tokens_per_s,tokens_per_s_per_chip,"
                         "flops_per_s_per_chip,mfu,hfu,memory_bytes,energy_per_token_j\n";

} // namespace

TEST_CASE("values of a varied key are lists, spans, quantities and words") {
  using Texts = std::vector<std::string>;
  CHECK(values("tp=1,2,4") == Texts{"1", "2", "4"});
  CHECK(values("mbs=1..3") == Texts{"1", "2", "3"});
  CHECK(values("seq=2k..8k:x2") == Texts{"2048", "4096", "8192"});
  CHECK(values("plan.recompute=none, full") == Texts{"none", "full"});
  CHECK(values("power.cap=300 W..500 W:+100 W") == Texts{"300 W", "400 W", "500 W"});
  CHECK(values("search.tensor=[1,2],[4]") == Texts{"[1,2]", "[4]"});
  CHECK(values("title=\"a..b,c\"") == Texts{"\"a..b,c\""});
}

TEST_CASE("values that say nothing are refused in words") {
  for (const char* text : {"", "=", "tp", "tp=", "tp=1,,2", "=1", "tp=8..2", "tp=1..8:x1",
                           "tp=1..1000000000", "tp=2,1..3", "nodes=1k..4k:x2", "tp=a..b"}) {
    CAPTURE(text);
    CHECK(refused(text));
  }
}

TEST_CASE("points are all combinations, the last key fastest") {
  const Sweep sweep = two_by_two();
  REQUIRE(sweep.points.size() == 2 * 2);
  CHECK(sweep.points[1].values == std::vector<std::string>{"1", "y"});
  CHECK(sweep.points[2].values == std::vector<std::string>{"2", "x"});
}

TEST_CASE("too many points and a key varied twice are refused") {
  RangeError error;
  const std::vector<std::string> many(most_sweep_points / 100 + 1, "1"), hundred(100, "1");
  CHECK_FALSE(plan_sweep({{"a", many}, {"b", hundred}}, error));
  CHECK(error.message == "more than 10000 points");
  CHECK_FALSE(plan_sweep({{"a", {"1"}}, {"a", {"2"}}}, error));
  CHECK(error.message == "'a' is varied twice");
}

TEST_CASE("finished points are taken over, unfinished and impossible ones are not") {
  Sweep sweep = two_by_two();
  Diagnostics out;
  REQUIRE(take_over(sweep,
                    table_of(head + "1,y,ok,,f00,2,3,4,5,0.5,0.6,7,8\n"
                                    "2,x,oom,short by 1 GiB,f01,,,,,,,9,\n"
                                    "2,y,n/a,heads,,,,,,,,,\n"),
                    out));
  CHECK(sweep.points[0].status == PointStatus::missing);
  CHECK(sweep.points[1].status == PointStatus::ok);
  CHECK(sweep.points[1].results[0] == 2.0);
  CHECK(sweep.points[2].status == PointStatus::oom);
  CHECK(sweep.points[2].reason == "short by 1 GiB");
  CHECK(sweep.points[3].status == PointStatus::missing);
}

TEST_CASE("a file of something else is not taken over") {
  for (const std::string& text :
       {std::string{"a,b,c\n1,2,3\n"}, head + "3,x,oom,,f,,,,,,,9,\n",
        head + "1,x,ok,,f,,,,,,,9,\n", head + "1,x,oom,,f,,,,,,,nan,\n",
        head + "1,x,good,,f,2,3,4,5,0.5,0.6,7,8\n", head + "1,x,oom,,,,,,,,,9,\n"}) {
    CAPTURE(text);
    Sweep sweep = two_by_two();
    Diagnostics out;
    CHECK_FALSE(take_over(sweep, table_of(text), out));
    CHECK(out.has_errors());
  }
}
