// Names of catalogue entries.

#include "small_catalogue.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace clustersim;
using namespace clustersim::test;

TEST_CASE("ids, aliases and names are found whatever their case and separators") {
  const SmallCatalogue files;
  const Catalogue catalogue = files.catalogue();
  for (const char* name : {"tiny", "TINY", "Tiny One", "tiny_one", "tiny-one", "Tiny 1", "SMALL"}) {
    CAPTURE(name);
    const auto found = catalogue.find(Kind::chip, name);
    REQUIRE(found.size() == 1);
    CHECK(found[0]->id == "tiny");
  }
  CHECK(catalogue.find(Kind::node, "tiny").empty());
}

TEST_CASE("an id wins over another's alias; two aliases alike are ambiguous") {
  const SmallCatalogue files;
  const std::string tiny = files.read("models/chips/tiny.toml");
  files.write("models/chips/small.toml", replaced(tiny, "id = \"tiny\"", "id = \"small\""));
  const Catalogue catalogue = files.catalogue();
  REQUIRE(catalogue.find(Kind::chip, "small").size() == 1);
  CHECK(catalogue.find(Kind::chip, "small")[0]->id == "small");
  Diagnostics out;
  CHECK_FALSE(load_chip(catalogue, "tiny one", out));
  CHECK(render(out, false).find("'tiny one' can mean several chips") != std::string::npos);
  CHECK(render(out, false).find("one of small, tiny") != std::string::npos);
}

TEST_CASE("an earlier root hides the same id of a later one") {
  const SmallCatalogue first, second;
  first.replace("models/chips/tiny.toml", "tdp = \"300 W\"", "tdp = \"200 W\"");
  const Catalogue catalogue({first.root(), second.root()});
  Diagnostics out;
  CHECK(load_chip(catalogue, "tiny", out)->power.tdp.si() == 200);
  CHECK(catalogue.find(Kind::chip, "Tiny One").size() == 1);
}

TEST_CASE("unknown names get the nearest; paths are not names") {
  const SmallCatalogue files;
  Diagnostics near, path, far;
  CHECK_FALSE(load_chip(files.catalogue(), "tinny", near));
  CHECK(render(near, false) ==
        "command line: error: unknown chip 'tinny'\n  did you mean \"tiny\"?\n");
  CHECK_FALSE(load_chip(files.catalogue(), "../chips/tiny", path));
  CHECK(render(path, false).find("is a path, not the name of a chip") != std::string::npos);
  CHECK_FALSE(load_chip(files.catalogue(), std::string(100000, 'x'), far));
  CHECK(render(far, false).size() < 500);
}

TEST_CASE("a broken file stays in the index and says why when asked for") {
  const SmallCatalogue files;
  files.write("models/chips/broken.toml", "schema = 1\nid = \n");
  files.write("models/chips/newer.toml", "schema = 2\nid = \"newer\"\n");
  files.write("models/chips/bare.toml", "id = \"bare\"\n");
  const Catalogue catalogue = files.catalogue();
  CHECK(catalogue.find(Kind::chip, "broken").size() == 1);
  Diagnostics broken, newer, bare;
  CHECK_FALSE(load_chip(catalogue, "broken", broken));
  CHECK(broken.sorted().size() == 1);
  CHECK(broken.sorted()[0].where.line == 2);
  CHECK_FALSE(load_chip(catalogue, "newer", newer));
  CHECK(render(newer, false).find("newer than this program understands") != std::string::npos);
  CHECK_FALSE(load_chip(catalogue, "bare", bare));
  CHECK(render(bare, false).find("begin the file with: schema = 1") != std::string::npos);
}

TEST_CASE("every number of the catalogue has a source") {
  const SmallCatalogue files;
  const std::string chip = "models/chips/tiny.toml";
  files.replace(chip, "source = \"made-up\"", "");
  Diagnostics none;
  CHECK_FALSE(load_chip(files.catalogue(), "tiny", none));
  CHECK(render(none, false).find("'power.tdp' has no source") != std::string::npos);
  files.replace(chip, "tdp = \"300 W\"", "tdp = { value = \"300 W\", source = \"mad-up\" }");
  Diagnostics wrong;
  CHECK_FALSE(load_chip(files.catalogue(), "tiny", wrong));
  CHECK(render(wrong, false).find("source \"mad-up\" is not declared") != std::string::npos);
  CHECK(render(wrong, false).find("did you mean \"made-up\"?") != std::string::npos);
}

TEST_CASE("published parameters must be the ones we count") {
  const SmallCatalogue files;
  files.replace("models/transformers/toy-model.toml", "layers = 2",
                "layers = 2\npublished_parameters = 12345");
  Diagnostics out;
  CHECK_FALSE(load_transformer(files.catalogue(), "toy-model", out));
  CHECK(render(out, false).find("the checkpoint 12345") != std::string::npos);
}

TEST_CASE(
    "data is looked for beside the scenario, then in --data, the variable, the data directory") {
  setenv("CLUSTERSIM_DATA", "/from/variable:/b", 1);
  CHECK(data_roots("a/s.toml", {"/b"}, "/compiled") ==
        std::vector<std::string>{"a", "/b", "/from/variable", "/compiled"});
  unsetenv("CLUSTERSIM_DATA");
  CHECK(data_roots("s.toml", {}, "/compiled") == std::vector<std::string>{".", "/compiled"});
  CHECK(data_roots("", {}, "/compiled") == std::vector<std::string>{"/compiled"});
}
