// What no single key can tell.

#include "small_catalogue.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::test;

namespace {

struct Case {
  const char* from;
  const char* to;
  const char* where;
  const char* message;
  const char* expected;
};

} // namespace

TEST_CASE("contradictions are located and say what would fit") {
  const SmallCatalogue files;
  const Case cases[] = {
      {"data = 2", "data = 3", "19:8", "tensor 2 x data 3 makes 6 chips, but the cluster has 4",
       "data = 2"},
      {"tensor = 2\ndata = 2", "tensor = 3", "18:10", "4 chips cannot be shared out by tensor 3",
       "tensor = 2 or 4"},
      {"tensor = 2\ndata = 2", "tensor = 8", "18:10", "4 chips cannot be shared out by tensor 8",
       "tensor = 4"},
      {"batch = 8", "batch = 7", "14:16", "not divisible by data 2 x micro_batch 1", "6 or 8"},
      {"batch = 8", "batch = 1", "14:16", "not divisible by data 2 x micro_batch 1", "2"},
      {"sequence = 128", "sequence = 129", "13:12", "longer than the 128 learned positions",
       "at most 128"},
      {"[training]", "[training]\nprecision = \"fp8\"", "13:13", "Tiny 1 has no fp8 path",
       "\"fp32\", \"bf16\""},
      {"fabric = \"switch\"", "", "6:9", "2 nodes, but no fabric joins them", "one node"},
      {"data = 2", "data = 2\nvirtual_stages = 2", "20:18",
       "virtual_stages divide a pipeline, which is 1", "virtual_stages = 1"},
      {"data = 2", "data = 1\npipeline = 2\nvirtual_stages = 9", "20:12",
       "cannot fill 2 x 9 stages", "virtual_stages = "},
      {"data = 2", "data = 1\npipeline = 2\nvirtual_stages = 2\nschedule = \"gpipe\"", "21:18",
       "only the schedule 1f1b has virtual stages", "virtual_stages = 1"},
      {"data = 2", "data = 2\npipeline = 3", "20:12", "chips cannot be shared out", "pipeline = "},
      {"data = 2", "data = 2\nhybrid_shard = 2", "20:16", "zero is 0", "zero above 0"},
      {"data = 2", "data = 2\nzero = 3\nhybrid_shard = 3", "21:16",
       "not divisible by hybrid_shard 3", "hybrid_shard = 2"},
      {"data = 2", "data = 2\nexpert = 2", "20:10", "has no experts to share out", "1"},
      {"[plan]", "[search]\nx = 1\n[plan]", "18:1", "unknown key 'x'", ""},
      {"[plan]", "[search]\ntensor = [3, 0]\n[plan]", "18:14", "0 is out of range", "from 1"},
      {"use = \"toy-model\"", "use = \"toy-model\"\nkv_heads = 3", "11:12",
       "heads 4 are not divisible by kv_heads 3", "a divisor of heads"},
      {"use = \"toy-model\"", "use = \"toy-model\"\nkv_heads = 1", "19:10",
       "1 kv_heads of Toy are not divisible by tensor 2", "tensor = 1"},
      {"use = \"toy-model\"", "use = \"toy-model\"\nffn_hidden = 255", "19:10",
       "ffn_hidden 255 of Toy is not divisible by tensor 2", "tensor = 1"},
      {"[plan]", "[power]\ncap = \"30 W\"\n[plan]", "18:7", "not above the chip's idle power",
       "above 38.57 W"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.to);
    const Outcome outcome = parse(files, replaced(small_scenario(), one.from, one.to));
    const std::string text = outcome.text();
    INFO(text);
    CHECK_FALSE(outcome.scenario);
    CHECK(text.find(std::string("scenario.toml:") + one.where + ": error: ") != std::string::npos);
    CHECK(text.find(one.message) != std::string::npos);
    CHECK(text.find(one.expected) != std::string::npos);
    for (const Diagnostic& diagnostic : outcome.diagnostics.sorted()) {
      CHECK(diagnostic.where.line == outcome.diagnostics.sorted().front().where.line);
    }
  }
}

TEST_CASE("sequence parallelism needs tensor parallelism and a sequence that divides") {
  const SmallCatalogue files;
  const Outcome alone = parse(files, small_scenario(), {"tp=1", "dp=4", "sp=true"});
  CHECK(alone.text().find("splits along tensor, which is 1") != std::string::npos);
  const Outcome odd = parse(files, small_scenario(), {"sp=true", "seq=127"});
  CHECK(odd.text().find("expected a multiple of 2") != std::string::npos);
}

TEST_CASE("checks that need a broken value stay silent about it") {
  const SmallCatalogue files;
  const Outcome outcome =
      parse(files, replaced(small_scenario(), "tensor = 2", "tensor = \"two\""));
  INFO(outcome.text());
  CHECK(outcome.count() == 1);
}

TEST_CASE("a step of too many tokens is refused before anything multiplies them") {
  const SmallCatalogue files;
  const Outcome outcome =
      parse(files, small_scenario(), {"model.position=rotary", "seq=100000000", "gbs=1000000000"});
  CHECK(outcome.text().find("at most 10000 sequences") != std::string::npos);
}

TEST_CASE("a node's references are checked where they stand") {
  const SmallCatalogue files;
  const std::string node = "topologies/nodes/pair.toml";
  files.replace(node, "[host]",
                "[scale_up]\nshape = \"switched\"\nlink = \"wire\"\n"
                "links_per_chip = 5\n[host]\nsockets = 2");
  const Outcome outcome = parse(files, small_scenario());
  INFO(outcome.text());
  CHECK(outcome.text().find("'host.socket_link' is missing") != std::string::npos);
  files.replace(node, "sockets = 2", "");
  CHECK(parse(files, small_scenario()).text().find("more links per chip than tiny has ports") !=
        std::string::npos);
}
