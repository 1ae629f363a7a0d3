#include "report/rows.hpp"
#include "report/svg.hpp"
#include "support/close_to.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

TEST_CASE("boxes stand where they want to while there is room") {
  CHECK(spread({0, 100}, {20, 20}, 10) == std::vector<double>{0, 100});
}

TEST_CASE("boxes in each other's way part evenly around the mean of their wishes") {
  // Both at 50, centres (20 + 20) / 2 + 10 = 30 apart.
  CHECK(spread({50, 50}, {20, 20}, 10) == std::vector<double>{35, 65});
  // A pushed pool pushes the next: three at 0, 0 and 20 need 0, 30, 60 shifted by the mean −70 / 3.
  const std::vector<double> x = spread({0, 0, 20}, {20, 20, 20}, 10);
  const double first = ((0 - 0) + (0 - 30) + (20 - 60)) / 3.0;
  CHECK(x[0] == close_to(first));
  CHECK(x[1] == close_to(first + 30));
  CHECK(x[2] == close_to(first + 60));
}

TEST_CASE("no two boxes of a row come nearer than the gap") {
  const std::vector<double> widths{10, 80, 20, 30, 5};
  const std::vector<double> x = spread({40, 41, 41, 300, 290}, widths, 7);
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    CHECK(x[i + 1] - x[i] >= (widths[i] + widths[i + 1]) / 2 + 7 - 1e-9);
}

TEST_CASE("a wire that passes a row has a place beside its boxes") {
  // Chip 0 and card 2 in rows 0 and 2; box 1 of row 1 would stand in the way.
  const RowLayout layout = lay_out_rows({{0, 20}, {1, 60}, {2, 20}}, {{0, 2}, {0, 1}}, 0, 10);
  REQUIRE(layout.bends.size() == 2);
  REQUIRE(layout.bends[0].size() == 1);
  CHECK(layout.bends[1].empty());
  CHECK(std::abs(layout.bends[0][0] - layout.x[1]) >= 60 / 2.0 + 10);
  CHECK(layout.x[2] == close_to(layout.bends[0][0])); // straight above it
}

TEST_CASE("rows above and below follow the base, wherever it is fixed") {
  const RowLayout layout = lay_out_rows({{0, 20}, {0, 20}, {1, 20}, {-1, 20}},
                                        {{0, 2}, {1, 2}, {0, 3}}, 0, 10, {100, 300, 0, 0});
  CHECK(layout.x == std::vector<double>{100, 300, 200, 100});
  CHECK(layout.left == 90);
  CHECK(layout.right == 310);
}

TEST_CASE("text in a picture cannot break out of it") {
  CHECK(xml_text("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
  CHECK(xml_text("\x1b").find('\x1b') == std::string::npos);
  CHECK(svg_number(1.04) == "1");
  CHECK(svg_number(-0.01) == "0");
  CHECK(svg_number(12.25) == "12.3");
}
