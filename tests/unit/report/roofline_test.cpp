#include "report/log_plot.hpp"
#include "report/roofline.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace clustersim;

namespace {

Chip small_chip() {
  Chip chip;
  chip.id = "small";
  chip.name = "Small";
  chip.memory = {"GDDR6", Bytes{8e9}, Bytes{8e9}, BytesPerSecond{500e9}, false};
  chip.l2 = {Bytes{4e6}, BytesPerSecond{2e12}};
  chip.matrix[Precision::fp16] = FlopsPerSecond{100e12};
  chip.vector[Precision::fp32] = FlopsPerSecond{20e12};
  return chip;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

} // namespace

TEST_CASE("a roofline has the roofs of the chip and no other, ridge = peak / bandwidth") {
  const Roofline roofs = roofline_of(small_chip());
  REQUIRE(roofs.compute.size() == 2);
  CHECK(roofs.compute[0].precision == Precision::fp16);
  CHECK(roofs.compute[0].units == "matrix");
  CHECK(roofs.compute[0].ridges ==
        std::vector{FlopsPerByte{100e12 / 500e9}, FlopsPerByte{100e12 / 2e12}});
  CHECK(roofs.compute[1].precision == Precision::fp32);
  CHECK(roofline_of(small_chip(), Precision::bf16).compute.empty());
  CHECK(render_roofline_text({roofs}, {}).find("bf16") == std::string::npos);
}

TEST_CASE("an L2 without a rate of its own draws no roof") {
  Chip chip = small_chip();
  chip.l2.bandwidth = BytesPerSecond{0};
  CHECK(roofline_of(chip).memory.size() == 1);
}

TEST_CASE("plots fit 80 x 24 however many chips") {
  for (std::size_t chips = 1; chips <= most_rooflines; ++chips) {
    std::vector<Roofline> roofs(chips, roofline_of(small_chip()));
    const std::string text = render_roofline_text(roofs, {false, true, Detail::normal});
    const auto lines = lines_of(text.substr(text.find("  FLOP/s, ")));
    CHECK(lines.size() <= 24);
    for (const std::string& line : lines) {
      CHECK(columns_of(line) <= 80);
    }
  }
}

TEST_CASE("a rising curve rises and a flat one stays") {
  LogPlot plot;
  plot.columns = 20;
  plot.rows = 10;
  plot.x_high = plot.y_high = 100;
  plot.curves = {{'a', Ink::plain, [](double x) { return x; }},
                 {'b', Ink::plain, [](double) { return 10.5; }}};
  const auto lines = render(plot, {});
  REQUIRE(lines.size() == 1 + 10 + 2);
  for (std::size_t row = 1; row <= 10; ++row) { // top to bottom: the diagonal moves left
    const auto at = lines[row].find('/');
    REQUIRE(at != std::string::npos);
    CHECK(at == 7 + 20 - 2 * row);
  }
  CHECK(lines[1].back() == 'a');
  CHECK(lines[5].find("-----") != std::string::npos);
  CHECK(lines[5].back() == 'b');
}
