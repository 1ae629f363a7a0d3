// No input may crash, hang or fill the memory.

#include "small_catalogue.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include <sys/stat.h>

using namespace clustersim;
using namespace clustersim::test;

namespace {

std::string repeat(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

// One diagnostic that says `text`, and no scenario.
void refuses(const std::string& input, const std::string& text) {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, input);
  CHECK_FALSE(outcome.scenario);
  CHECK(outcome.count() == 1);
  CHECK(outcome.diagnostics.exit_code() == ExitCode::bad_input);
  const std::string said = outcome.text();
  INFO(said);
  CHECK(said.find(text) != std::string::npos);
  CHECK(said.size() < 4000);
}

} // namespace

TEST_CASE("nesting is limited before the parser recurses") {
  refuses("schema = 1\n" + repeat("a.", 200000) + "a = 1\n", "nested too deeply");
  refuses("schema = 1\n[" + repeat("a.", 200000) + "a]\n", "nested too deeply");
  refuses("schema = 1\na = " + repeat("[", 200000) + repeat("]", 200000), "nested too deeply");
  refuses("schema = 1\na = " + repeat("{a=", 200000), "nested too deeply");
  refuses("schema = 1\n" + repeat("\"a\" . ", 200000) + "a = 1\n", "nested too deeply");
}

TEST_CASE("dots and brackets inside strings and comments do not count as nesting") {
  const SmallCatalogue files;
  const std::string dots = repeat("[.", 100);
  for (const std::string& title :
       {"title = \"" + dots + "\\\"" + dots + "\" # " + dots, "title = '" + dots + "'",
        "title = \"\"\"\n" + dots + "\"\n" + dots + "\"\"\"\"",
        "title = '''\n" + dots + "'" + dots + "'''"}) {
    const Outcome outcome = parse(files, replaced(small_scenario(), "title = \"Small\"", title));
    INFO(outcome.text());
    CHECK(outcome.scenario);
  }
}

TEST_CASE("size, encoding and NUL bytes are looked at first") {
  refuses("schema = 1\ntitle = \"" + std::string(5U << 20U, 'x') + "\"\n", "larger than 4 MiB");
  refuses("schema = 1\ntitle = \"\xff\"\n", "invalid UTF-8");
  refuses("schema = 1\ntitle = \"\xc0\xaf\"\n", "invalid UTF-8");     // overlong
  refuses("schema = 1\ntitle = \"\xed\xa0\x80\"\n", "invalid UTF-8"); // surrogate
  refuses(std::string("schema = 1\ntitle = \"\0\"\n", 22), "NUL");
  refuses("schema = 1\n[\x7fplan]\n", "scenario.toml:2:2: error: a control character");
}

TEST_CASE("a syntax error or a duplicate key ends parsing with one diagnostic") {
  refuses("schema = 1\n[plan\ntensor = = 2\n", "scenario.toml:2:");
  refuses("schema = 1\n[plan]\ntensor = 2\ntensor = 3\nx y z\n", "scenario.toml:4:");
  refuses("schema = 1\ntitle = \"never closed\n", "scenario.toml:2:");
  refuses("", "no schema version");
  refuses("schema = \"1\"\n", "whole number");
  refuses("schema = 99999999999999999999\n", "scenario.toml:1:");
}

TEST_CASE("numbers beyond every range are diagnostics") {
  const SmallCatalogue files;
  for (const char* setting :
       {"tp=99999999999999999", "tp=-1", "tp=0", "gbs=9223372036854775807", "seq=100000001",
        "nodes=1000001", "tokens=inf", "tokens=nan", "tokens=1e999", "pue=-1", "cap=1e300 W",
        "cap=-1 W", "model.layers=10001", "model.hidden=1000001", "model.vocabulary=100000001"}) {
    CAPTURE(setting);
    const Outcome outcome = parse(files, small_scenario(), {setting});
    CHECK_FALSE(outcome.scenario);
    CHECK(outcome.diagnostics.exit_code() == ExitCode::bad_input);
  }
}

TEST_CASE("a file full of mistakes costs little to report") {
  const SmallCatalogue files;
  std::string text = small_scenario();
  for (int i = 0; i < 20000; ++i) {
    text += "unknown" + std::to_string(i) + " = 1\n";
  }
  const Outcome outcome = parse(files, text);
  CHECK_FALSE(outcome.scenario);
  CHECK(outcome.count() <= 600);
  const std::string many = "schema = 1\n" + repeat("k", 1000000) + " = 1\n";
  CHECK(parse(files, many).text().size() < 10000);
}

TEST_CASE("what is not an ordinary file is refused with the system's exit code") {
  const SmallCatalogue files;
  mkfifo((files.root() + "/pipe.toml").c_str(), 0600);
  for (const std::string& path :
       {files.root(), files.root() + "/absent.toml", std::string("/dev/zero"),
        files.root() + "/pipe.toml", std::string()}) {
    CAPTURE(path);
    Diagnostics out;
    CHECK_FALSE(load_scenario(path, files.catalogue(), {}, out));
    CHECK(out.exit_code() == ExitCode::cannot_read_or_write);
    CHECK(out.sorted().size() == 1);
  }
}

TEST_CASE("control characters in names never reach the terminal") {
  const SmallCatalogue files;
  const Outcome outcome =
      parse(files, replaced(small_scenario(), "\"pair\"", "\"pa\\u001b[2Jir\""));
  CHECK(outcome.text().find('\x1b') == std::string::npos);
}
