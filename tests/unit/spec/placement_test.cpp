// Ranks of each group, against the definition: the rank whose coordinates are (t, c, d, p) in the
// order of the placement.

#include "spec/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace clustersim;

namespace {

/// All groups of a family over the plan's chips, as sets of ranks.
std::set<std::set<int>> groups_of(const RankGroup& group, int chips) {
  std::set<std::set<int>> out;
  const int block = group.block > 0 ? group.block : group.size;
  const auto offset = [&](int i) {
    return i / block * group.block_stride + i % block * group.stride;
  };
  std::vector<bool> taken(static_cast<std::size_t>(chips), false);
  for (int base = 0; base < chips; ++base) {
    if (taken[static_cast<std::size_t>(base)]) continue;
    std::set<int> ranks;
    for (int i = 0; i < group.size; ++i) {
      ranks.insert(base + offset(i));
      taken.at(static_cast<std::size_t>(base + offset(i))) = true;
    }
    out.insert(ranks);
  }
  return out;
}

/// Ranks that differ in the coordinates of `axes` alone, by definition.
std::set<std::set<int>> by_definition(const Plan& plan, const std::set<Axis>& axes) {
  std::map<std::vector<int>, std::set<int>> groups;
  const auto size = [&](Axis axis) {
    return axis == Axis::tensor     ? plan.tensor
           : axis == Axis::context  ? plan.context
           : axis == Axis::data     ? plan.data
           : axis == Axis::pipeline ? plan.pipeline
                                    : 1;
  };
  for (int rank = 0; rank < plan.tensor * plan.context * plan.data * plan.pipeline; ++rank) {
    std::vector<int> rest;
    int number = rank;
    for (const Axis axis : plan.placement) {
      if (axes.count(axis) == 0) rest.push_back(number % size(axis));
      number /= size(axis);
    }
    groups[rest].insert(rank);
  }
  std::set<std::set<int>> out;
  for (const auto& [key, ranks] : groups)
    out.insert(ranks);
  return out;
}

Plan plan_of(int tensor, int context, int data, int pipeline) {
  Plan plan;
  plan.tensor = tensor;
  plan.context = context;
  plan.data = data;
  plan.pipeline = pipeline;
  return plan;
}

} // namespace

TEST_CASE("groups are the ranks that differ in their axes alone, in every order") {
  Plan plan = plan_of(2, 3, 4, 5);
  std::sort(plan.placement.begin(), plan.placement.end());
  int orders = 0, refused = 0;
  do {
    ++orders;
    CAPTURE(placement_text(plan.placement));
    for (const auto& [kind, axes] : {std::pair{GroupKind::tensor, std::set{Axis::tensor}},
                                     {GroupKind::context, std::set{Axis::context}},
                                     {GroupKind::pipeline, std::set{Axis::pipeline}},
                                     {GroupKind::replicas, std::set{Axis::data, Axis::context}}}) {
      const auto group = rank_group(plan, kind);
      if (!group) {
        ++refused;
        continue;
      }
      CHECK(groups_of(*group, 120) == by_definition(plan, axes));
    }
  } while (std::next_permutation(plan.placement.begin(), plan.placement.end()));
  CHECK(orders == 120);
  CHECK(refused == 0); // two axes are at most two nested runs
}

TEST_CASE("the usual order has tensor ranks side by side and stages far apart") {
  const Plan plan = plan_of(8, 2, 4, 3);
  CHECK(rank_group(plan, GroupKind::tensor) == RankGroup{8, 1, 0, 0});
  CHECK(rank_group(plan, GroupKind::context) == RankGroup{2, 8, 0, 0});
  CHECK(rank_group(plan, GroupKind::replicas) == RankGroup{2 * 4, 8, 0, 0});
  CHECK(rank_group(plan, GroupKind::pipeline) == RankGroup{3, 8 * 2 * 4, 0, 0});
}

TEST_CASE("with whole replicas side by side the stages of one lie between those of the next") {
  Plan plan = plan_of(8, 2, 4, 3);
  plan.placement = replica_placement;
  CHECK(rank_group(plan, GroupKind::pipeline) == RankGroup{3, 8 * 2, 0, 0});
  CHECK(rank_group(plan, GroupKind::replicas) == RankGroup{2 * 4, 8, 2, 8 * 2 * 3});
}

TEST_CASE("experts are dealt out over the ranks of a stage") {
  Plan plan = plan_of(2, 1, 8, 2);
  plan.expert = 4;
  plan.expert_tensor = 2;
  CHECK(rank_group(plan, GroupKind::expert_tensor) == RankGroup{2, 1, 0, 0});
  CHECK(rank_group(plan, GroupKind::expert) == RankGroup{4, 2, 0, 0});
  CHECK(rank_group(plan, GroupKind::expert_replicas) == RankGroup{2, 8, 0, 0});
  plan.placement = replica_placement; // data, in steps of 2 x 2 ranks: four replicas share experts
  CHECK(rank_group(plan, GroupKind::expert) == RankGroup{4, 2 * 2, 0, 0});
  CHECK(rank_group(plan, GroupKind::expert_replicas) == RankGroup{2, 2 * 2 * 4, 0, 0});
}

TEST_CASE("shard groups are the nearest ranks, their copies the rest") {
  const Plan plan = plan_of(2, 1, 8, 1);
  CHECK(rank_group(plan, GroupKind::replicas, 1, 4) == RankGroup{4, 2, 0, 0});
  CHECK(rank_group(plan, GroupKind::replicas, 4, 2) == RankGroup{2, 8, 0, 0});
  CHECK_FALSE(rank_group(plan, GroupKind::replicas, 3, 2));
}

TEST_CASE("placements are read in both spellings") {
  std::string why;
  const auto usual = parse_placement("tensor, context, expert, data, pipeline", why);
  REQUIRE(usual);
  CHECK(*usual == usual_placement);
  CHECK(parse_placement("tp-cp-ep-dp-pp", why) == usual_placement);
  const auto worse = parse_placement("data tensor", why);
  REQUIRE(worse);
  CHECK(placement_text(*worse) == "data, tensor, context, expert, pipeline");
  CHECK_FALSE(parse_placement("tp-tp", why));
  CHECK(why == "the axis tensor is placed twice");
  why.clear();
  CHECK_FALSE(parse_placement("rows", why));
  CHECK(why == "'rows' is no axis of a plan");
  why.clear();
  CHECK_FALSE(parse_placement(" ", why));
}
