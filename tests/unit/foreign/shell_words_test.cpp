#include "foreign/shell_words.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace clustersim;

namespace {

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (const ShellWord& word : read_shell(text).words)
    out.push_back(word.text);
  return out;
}

using Words = std::vector<std::string>;

} // namespace

TEST_CASE("words of a script: quotes, comments, continued lines") {
  CHECK(words("a  'b c' \"d e\" # f\n g\\\nh") == Words{"a", "b c", "d e", "gh"});
  CHECK(words("x#y #z") == Words{"x#y"});
  CHECK(words("a\\ b;c|d&&e") == Words{"a b", "c", "d", "e"});
  CHECK(words("").empty());
}

TEST_CASE("variables that the script sets are replaced, others stay as they are written") {
  CHECK(words("TP=8\n--tp $TP ${TP} ${PP:-4} $1 ${NONE}") ==
        Words{"--tp", "8", "8", "4", "$1", "${NONE}"});
  CHECK(words("A=1\nB=$A$A\n$B") == Words{"11"});
  CHECK(words("A='$B'\n'$A'") == Words{"$A"});
}

TEST_CASE("lists split where they are used, also within quotes") {
  const char* script = "ARGS=(\n --a 1 # one\n --b \"2\"\n)\nrun \"${ARGS[@]}\" ${ARGS[*]}";
  CHECK(words(script) == Words{"run", "--a", "1", "--b", "2", "--a", "1", "--b", "2"});
  CHECK(words("N=4\nARGS=(--n $N)\n$ARGS") == Words{"--n", "4"});
  CHECK(words("ARGS=\"--x 1 \\\n --y 2\"\n$ARGS") == Words{"--x", "1", "--y", "2"});
}

TEST_CASE("every word knows its line and column") {
  const ShellScript script = read_shell("a b\n  c");
  REQUIRE(script.words.size() == 3);
  CHECK(script.words[2].line == 2);
  CHECK(script.words[2].column == 3);
}

TEST_CASE("hostile scripts end") {
  std::string doubling = "A=xxxxxxxx\n";
  for (int i = 0; i < 10000; ++i)
    doubling += "A=$A$A\n";
  CHECK(read_shell(doubling).variables.size() == 1);
  std::string nested;
  for (int i = 0; i < 100000; ++i)
    nested += "A=(";
  CHECK(read_shell(nested).words.size() < 100000);
  CHECK(read_shell(std::string(100000, '$')).words.size() < 100000);
  CHECK(read_shell("'").words.size() <= 1);
  CHECK(read_shell("${").words.size() <= 1);
}
