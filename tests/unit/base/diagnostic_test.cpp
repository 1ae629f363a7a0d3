#include "base/diagnostic.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {

Diagnostic at(std::string file, std::size_t line, std::size_t column, std::string message) {
  Diagnostic diagnostic;
  diagnostic.where = {std::move(file), line, column};
  diagnostic.message = std::move(message);
  return diagnostic;
}

std::string rendered(const Diagnostic& diagnostic) {
  Diagnostics all;
  all.add(diagnostic);
  return render(all, false);
}

} // namespace

TEST_CASE("a diagnostic shows the place, the line, what was expected and the nearest name") {
  Diagnostic wrong = at("plan.toml", 3, 1, "unknown key 'tensr' in [plan]");
  wrong.line_text = "tensr = 8";
  wrong.length = 5;
  wrong.expected = "a key of [plan]";
  wrong.suggestion = "tensor";
  CHECK(rendered(wrong) == "plan.toml:3:1: error: unknown key 'tensr' in [plan]\n"
                           "  tensr = 8\n"
                           "  ^~~~~\n"
                           "  expected a key of [plan]\n"
                           "  did you mean \"tensor\"?\n");
}

TEST_CASE("a remedy is printed as it is") {
  Diagnostic wrong = at("--set", 0, 6, "'5 gb/s' has the unknown unit 'gb/s'");
  wrong.line_text = "link=5 gb/s";
  wrong.length = 6;
  wrong.suggestion = "upper and lower case differ: write \"GB/s\" or \"Gb/s\"";
  CHECK(rendered(wrong) == "--set: error: '5 gb/s' has the unknown unit 'gb/s'\n"
                           "  link=5 gb/s\n"
                           "       ^~~~~~\n"
                           "  upper and lower case differ: write \"GB/s\" or \"Gb/s\"\n");
}

TEST_CASE("the caret stands below the byte meant, whatever precedes it") {
  Diagnostic wrong = at("x.toml", 1, 7, "bad");
  wrong.line_text = "\t\xC2\xB5 = \"a\" # \x1b[2J";
  wrong.length = 3;
  CHECK(rendered(wrong) == "x.toml:1:7: error: bad\n"
                           "   \xC2\xB5 = \"a\" # \\x1b[2J\n"
                           "       ^~~\n");
}

TEST_CASE("a caret past the end of its line still points somewhere") {
  Diagnostic wrong = at("x.toml", 1, 99, "bad");
  wrong.line_text = "abc";
  wrong.length = 50;
  CHECK(rendered(wrong) == "x.toml:1:99: error: bad\n"
                           "  abc\n"
                           "     ^\n");
}

TEST_CASE("of a long line only the neighbourhood of the caret is shown") {
  Diagnostic wrong = at("x.toml", 1, 500'001, "bad");
  wrong.line_text = std::string(500'000, 'a') + "HERE" + std::string(500'000, 'b');
  wrong.length = 4;
  const std::string text = rendered(wrong);
  CHECK(text == "x.toml:1:500001: error: bad\n"
                "  ..." +
                    std::string(48, 'a') + "HERE" + std::string(96 - 48 - 4, 'b') + "...\n" + "  " +
                    std::string(3 + 48, ' ') + "^~~~\n");
}

TEST_CASE("no input can drive the terminal through a diagnostic") {
  Diagnostic wrong = at("a\x1b.toml", 1, 1, "key '\x1b[31m'");
  wrong.line_text = "\x1b[31m";
  wrong.expected = "\x07";
  wrong.suggestion = "\x9b";
  const std::string text = rendered(wrong);
  for (const char c : text)
    CHECK_MESSAGE((c == '\n' || static_cast<unsigned char>(c) >= 0x20), text);
  CHECK(text.find('\x9b') == std::string::npos);
}

TEST_CASE(
    "diagnostics are sorted by file in order of first use, line and column, without repeats") {
  Diagnostics all;
  all.add(at("z.toml", 9, 1, "late"));
  all.add(at("a.toml", 1, 1, "other file"));
  all.add(at("z.toml", 2, 7, "second"));
  all.add(at("z.toml", 2, 3, "first"));
  all.add(at("z.toml", 2, 3, "first"));
  std::string order;
  for (const Diagnostic& diagnostic : all.sorted())
    order += diagnostic.message + ";";
  CHECK(order == "first;second;late;other file;");
}

TEST_CASE("twenty are shown at most, and the rest is counted") {
  Diagnostics all;
  for (std::size_t line = 1; line <= 25; ++line)
    all.add(at("x", line, 0, "bad"));
  const std::string text = render(all, false);
  CHECK(text.starts_with("x:1: error: bad\n"));
  CHECK(text.ends_with("x:20: error: bad\n5 more\n"));
}

TEST_CASE("warnings never crowd out an error") {
  Diagnostics all;
  for (std::size_t line = 1; line <= 40; ++line) {
    Diagnostic warning = at("x", line, 0, "odd");
    warning.severity = Severity::warning;
    all.add(warning);
  }
  CHECK_FALSE(all.has_errors());
  CHECK(all.exit_code() == ExitCode::done);
  all.add(at("x", 41, 0, "bad"));
  CHECK(all.has_errors());
  CHECK(render(all, false).ends_with("x:19: warning: odd\nx:41: error: bad\n21 more\n"));
}

TEST_CASE("the exit code tells bad input from what cannot be read") {
  Diagnostics all;
  CHECK(all.empty());
  CHECK(all.exit_code() == ExitCode::done);
  all.add(at("x", 1, 1, "bad"));
  CHECK(all.exit_code() == ExitCode::bad_input);
  all.mark_io_failure();
  CHECK(all.exit_code() == ExitCode::cannot_read_or_write);
}

TEST_CASE("colour marks place, severity and caret, and only on request") {
  Diagnostic wrong = at("x", 1, 1, "bad");
  wrong.line_text = "y";
  Diagnostics all;
  all.add(wrong);
  CHECK(render(all, true) == "\x1b[1mx:1:1:\x1b[0m \x1b[1;31merror:\x1b[0m bad\n"
                             "  y\n"
                             "  \x1b[1;32m^\x1b[0m\n");
  CHECK(render(all, false).find('\x1b') == std::string::npos);
}
