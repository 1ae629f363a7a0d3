#include "foreign/csv.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace clustersim;

namespace {

struct Read {
  std::optional<CsvTable> table;
  Diagnostics diagnostics;
  [[nodiscard]] std::string message() const {
    return diagnostics.empty() ? "" : diagnostics.sorted().front().message;
  }
  [[nodiscard]] std::size_t line() const { return diagnostics.sorted().front().where.line; }
};

Read read(std::string_view text, const CsvLimits& limits = {}) {
  Read result;
  result.table = parse_csv(text, "evidence.csv", result.diagnostics, limits);
  return result;
}

} // namespace

TEST_CASE("a plain table keeps its fields, its lines and its order") {
  const Read r = read("id,chip\na,H100\nb,A100\n");
  REQUIRE(r.table);
  CHECK(r.table->header == std::vector<std::string>{"id", "chip"});
  REQUIRE(r.table->rows.size() == 2);
  CHECK(r.table->at(1, "chip") == "A100");
  CHECK(r.table->rows[1].line == 3);
  CHECK(r.table->at(0, "no such column").empty());
  CHECK(r.diagnostics.empty());
}

TEST_CASE("quotes may hold commas, doubled quotes and line ends; lines still count") {
  const Read r = read("id,notes\r\na,\"x, \"\"y\"\"\r\nz\"\r\nb,\r\n");
  REQUIRE(r.table);
  CHECK(r.table->at(0, "notes") == "x, \"y\"\r\nz");
  CHECK(r.table->at(1, "notes").empty());
  CHECK(r.table->rows[1].line == 4);
}

TEST_CASE("a byte order mark, comments, empty lines and a missing last line end are no rows") {
  const Read r = read("\xEF\xBB\xBF# source: somewhere\n\nid\n# between\n1\n\n2");
  REQUIRE(r.table);
  CHECK(r.table->header.front() == "id");
  CHECK(r.table->rows.size() == 2);
}

TEST_CASE("what is no rectangle of text says where and why") {
  CHECK(read("").message() == "the file is empty");
  CHECK(read("# only a comment\n").message() == "the file is empty");
  CHECK(read(std::string("id\na\0b\n", 7)).message() ==
        "the file holds a zero byte, so it is no text");
  CHECK(read("id,chip,id\n").message() == "the header names the column 'id' twice: 1 and 3");
  CHECK(read("id,,x\n").message() == "column 2 of the header has no name");
  CHECK(read("id\n\"open\nand on\n").message() == "a quoted field that never ends");
  CHECK(read("id\n\"a\"b\n").message() == "text after the closing quote of a field");
  CHECK(read("id\na\"b\"\n").message() == "a quote inside a field that does not start with one");
  CHECK(read("id\na\rb\n").message() == "a carriage return that ends no line");
}

TEST_CASE("every ragged row is reported, not just the first") {
  const Read r = read("id,chip\na\nb,H100\nc,d,e\n");
  CHECK_FALSE(r.table);
  const std::vector<Diagnostic> found = r.diagnostics.sorted();
  REQUIRE(found.size() == 2);
  CHECK(found[0].where.line == 2);
  CHECK(found[0].message == "this row has 1 fields, the header 2");
  CHECK(found[1].where.line == 4);
  CHECK(found[1].line_text == "c,d,e");
}

TEST_CASE("limits on bytes, rows, columns and fields hold") {
  CsvLimits limits;
  limits.rows = 2;
  CHECK(read("id\n1\n2\n", limits).table);
  CHECK(read("id\n1\n2\n3\n", limits).message() == "more than 2 rows");
  limits = {};
  limits.columns = 3;
  CHECK(read("a,b,c\n", limits).table);
  CHECK(read("a,b,c,d\n", limits).message() == "more than 3 fields in one row");
  limits = {};
  limits.field_bytes = 4;
  CHECK(read("id\nabcd\n", limits).table);
  CHECK(read("id\nabcde\n", limits).message() == "a field of more than 4 bytes");
  limits = {};
  limits.bytes = 5;
  CHECK(read("id\n1\n", limits).table);
  CHECK(read("id\n10\n", limits).message() == "the file is larger than 5 bytes");
}

TEST_CASE("an unreadable file is the operating system's failure, exit 74") {
  Diagnostics diagnostics;
  CHECK_FALSE(read_csv("/no/such/file.csv", diagnostics));
  CHECK(diagnostics.exit_code() == ExitCode::cannot_read_or_write);
  Diagnostics directory;
  CHECK_FALSE(read_csv("/", directory));
  CHECK(directory.exit_code() == ExitCode::cannot_read_or_write);
}

TEST_CASE("a number is the whole text and finite") {
  CHECK(number_from("12") == 12.0);
  CHECK(number_from("-1.5e3") == -1500.0);
  CHECK_FALSE(number_from(""));
  CHECK_FALSE(number_from("12 "));
  CHECK_FALSE(number_from("1e999"));
  CHECK_FALSE(number_from("nan"));
  CHECK_FALSE(number_from("inf"));
  CHECK_FALSE(number_from("0x10"));
}
