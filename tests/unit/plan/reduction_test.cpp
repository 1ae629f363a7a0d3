// Buckets of gradients.

#include "plan/reduction.hpp"

#include "examples.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

TEST_CASE("small layers share a bucket, large ones make several") {
  const Buckets shared = cut_into_buckets(10, Bytes{30}, Bytes{100});
  CHECK(shared.layers_per_group == 3);
  CHECK(shared.groups == 3);
  CHECK(shared.rest == 1);
  CHECK(shared.calls_per_group == 1);

  const Buckets several = cut_into_buckets(10, Bytes{250}, Bytes{100});
  CHECK(several.layers_per_group == 1);
  CHECK(several.groups == 10);
  CHECK(several.rest == 0);
  CHECK(several.calls_per_group == 3);
}

TEST_CASE("no bucket means one message") {
  const Buckets cut = cut_into_buckets(10, Bytes{250}, Bytes{0});
  CHECK(cut.layers_per_group == 10);
  CHECK(cut.groups == 1);
  CHECK(cut.rest == 0);
  CHECK(cut.calls_per_group == 1);
}

TEST_CASE("layers are cut without loss for any sizes") {
  for (std::int64_t layers = 1; layers <= 12; ++layers) {
    for (const double bucket : {0.0, 1e-3, 1.0, 7.0, 50.0, 1e30}) {
      const Buckets cut = cut_into_buckets(layers, Bytes{7}, Bytes{bucket});
      CHECK(cut.groups * cut.layers_per_group + cut.rest == layers);
      CHECK(cut.rest < cut.layers_per_group);
      CHECK(cut.groups >= 1);
      CHECK(cut.calls_per_group >= 1);
    }
  }
}

TEST_CASE("buckets grow with the ranks where the stack says so") {
  Scenario scenario = test::example(test::small_gpt(2, 4), 128);
  scenario.training.stack.overlap.bucket = Bytes{160e6};
  scenario.training.stack.overlap.bucket_per_rank = Bytes{4e6};
  test::spread(scenario, 1, 8, 1);
  CHECK(bucket_size(scenario) == Bytes{160e6});
  test::spread(scenario, 1, 512, 1);
  CHECK(bucket_size(scenario) == Bytes{512 * 4e6});
}
