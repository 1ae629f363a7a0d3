#include "foreign/json_rows.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {
std::optional<CsvTable> rows(const std::string& text) {
  Diagnostics out;
  auto table = json_rows(text, "file.json", "points", out);
  CHECK(table.has_value() != out.has_errors());
  return table;
}
} // namespace

TEST_CASE("flat objects of one shape are a table") {
  const auto table = rows(R"({"points": [{"tp": "1", "mfu": 0.5}, {"tp": "2", "mfu": null}]})");
  REQUIRE(table);
  CHECK(table->header == std::vector<std::string>{"tp", "mfu"});
  REQUIRE(table->rows.size() == 2);
  CHECK(table->at(0, "mfu") == "0.5");
  CHECK(table->at(1, "mfu").empty());
}

TEST_CASE("an empty list is a table without a header") {
  const auto table = rows(R"({"points": []})");
  REQUIRE(table);
  CHECK(table->header.empty());
}

TEST_CASE("other JSON is refused") {
  for (const std::string& text :
       {std::string{}, std::string{"{"}, std::string{"[]"}, std::string{"{\"points\": 1}"},
        std::string{R"({"points": [1]})"}, std::string{R"({"points": [{}]})"},
        std::string{R"({"points": [{"a": 1}, {"b": 1}]})"},
        std::string{R"({"points": [{"a": 1, "b": 2}, {"a": 1}]})"},
        std::string{R"({"points": [{"a": 1}, {"a": 1, "b": 2}]})"},
        std::string{R"({"points": [{"a": [1]}]})"}, std::string(100000, '[')}) {
    CAPTURE(text.substr(0, 60));
    CHECK_FALSE(rows(text));
  }
}
