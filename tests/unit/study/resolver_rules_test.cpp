#include "study/evidence.hpp"
#include "study/resolver_rules.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {

CsvTable table(std::string_view text) {
  Diagnostics diagnostics;
  std::optional<CsvTable> parsed = parse_csv(text, "t.csv", diagnostics);
  REQUIRE(parsed);
  return *parsed;
}

ResolverRules rules(std::string_view text) {
  Diagnostics diagnostics;
  const std::optional<ResolverRules> parsed = parse_resolver_rules(table(text), diagnostics);
  REQUIRE(parsed);
  return *parsed;
}

} // namespace

TEST_CASE("globs know one wildcard and no case") {
  CHECK(matches_glob("Megatron-LM (TE 2.11)", "megatron-lm*"));
  CHECK(matches_glob("a flash attention b", "*FLASH*"));
  CHECK(matches_glob("abcab", "*ab"));
  CHECK(matches_glob("", ""));
  CHECK(matches_glob("", "*"));
  CHECK_FALSE(matches_glob("x", ""));
  CHECK_FALSE(matches_glob("Megatron", "Megatron-*"));
  CHECK_FALSE(matches_glob("aab", "*ba*"));
}

TEST_CASE("the first rule that holds decides, and needs the columns its value names") {
  const ResolverRules r = rules("key,when,value,says\n"
                                "plan.zero,,{zero},\n"
                                "plan.zero,framework=Megatron*,0,stage not stated\n"
                                "plan.zero,,1,unknown framework '{framework}'\n"
                                "skip,pp!=1|,,pipeline of {pp}\n");
  const CsvTable t = table("framework,zero,pp\nMegatron-LM,3,1\nMegatron-LM,,8\nJAX,,\n");
  CHECK(decide(r, "plan.zero", t, 0)->value == "3");
  CHECK(decide(r, "plan.zero", t, 1)->value == "0");
  CHECK(decide(r, "plan.zero", t, 1)->says == "stage not stated");
  CHECK(decide(r, "plan.zero", t, 2)->says == "unknown framework 'JAX'");
  CHECK_FALSE(decide(r, "skip", t, 0));
  CHECK(decide(r, "skip", t, 1)->says == "pipeline of 8");
  CHECK_FALSE(decide(r, "skip", t, 2));
  CHECK_FALSE(decide(r, "no such key", t, 0));
  CHECK(decide_all(r, "plan.zero", t, 1).size() == 2);
  CHECK(keys_of(r) == std::vector<std::string>{"plan.zero", "skip"});
}

TEST_CASE("all conditions of a rule must hold") {
  const ResolverRules r = rules("key,when,value,says\nk,a=1 & b!=2,v,\n");
  const CsvTable t = table("a,b\n1,1\n1,2\n2,1\n");
  CHECK(decide(r, "k", t, 0));
  CHECK_FALSE(decide(r, "k", t, 1));
  CHECK_FALSE(decide(r, "k", t, 2));
}

TEST_CASE("a rule that cannot be read is located") {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_resolver_rules(table("key,when,value,says\nk,nonsense,v,\n"), diagnostics));
  CHECK(diagnostics.sorted().front().where.line == 2);
  CHECK(diagnostics.sorted().front().message ==
        "'nonsense' is no condition of the form column=glob");
  Diagnostics columns;
  CHECK_FALSE(parse_resolver_rules(table("key,when\nk,\n"), columns));
  CHECK(columns.sorted().front().message == "the rules have no column 'value'");
}

TEST_CASE("the kind of evidence is told by its header") {
  CHECK(recognise(table("chip,precision,M,N,K,batch,tflops,time_us\n"))->name == "gemm");
  CHECK(recognise(table("source,gpu,num_gpus,bytes,time_ns,busbw_GBps\n"))->name == "all-reduce");
  CHECK(recognise(table("system,collective,ranks,nodes,bytes,time_us\n"))->name == "collectives");
  CHECK(recognise(table("some,thing\n")) == nullptr);
  const NearestKind nearest = nearest_kind(table("chip,precision,M,N,time_us\n"));
  CHECK(nearest.kind->name == "gemm");
  CHECK(nearest.missing == std::vector<std::string>{"K"});
}
