#include "spec/schemas.hpp"

#include <algorithm>

namespace clustersim {
namespace {

using S = SearchSpace;
constexpr double most_chips = 1e6, most_sequences = 1e9;

/// A list, or one value by itself.
template <class Value, class One>
bool read_list(const Given& given, std::vector<Value>& out, const One& one) {
  const bool several = given.tree.type == TreeType::array;
  std::vector<Value> values;
  for (std::size_t i = 0; i < (several ? given.tree.items.size() : 1); ++i) {
    const std::optional<Value> value =
        one({several ? given.tree.items[i] : given.tree, given.info, given.context});
    if (!value) return false;
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  if (values.empty()) {
    report(given, "no value to choose from");
    return false;
  }
  out = std::move(values);
  return true;
}

FieldTuner add_counts(Schema<S>& s, std::string key, std::vector<std::int64_t> S::*member,
                      std::string help) {
  return add_custom(
      s, std::move(key), "counts", "a list such as [1, 2, 4, 8]",
      [member](const Given& given, S& object) {
        return read_list(given, object.*member, [](const Given& one) { return read_count(one); });
      },
      std::move(help));
}

template <class E>
FieldTuner add_words(Schema<S>& s, std::string key, std::vector<E> S::*member, Choices<E> choices,
                     std::string help) {
  auto tuner = add_custom(
      s, std::move(key), "words", "",
      [member, choices](const Given& given, S& object) {
        return read_list(given, object.*member, [&](const Given& one) -> std::optional<E> {
          const std::optional<std::size_t> which = read_choice(one);
          return which ? std::optional(choices[*which].second) : std::nullopt;
        });
      },
      std::move(help));
  for (const auto& [word, value] : choices)
    s.fields.back().info.choices.push_back(word);
  return tuner;
}

void add_axes(Schema<S>& s) {
  const auto counts = [&](const char* key, std::vector<std::int64_t> S::*member, const char* open) {
    add_counts(s, key, member, std::string("of plan.") + key).between(1, most_chips).derived(open);
  };
  counts("tensor", &S::tensor, "all that divide heads, MLP and chips");
  counts("pipeline", &S::pipeline, "all divisors of the chips up to the layers, at most 128");
  counts("virtual_stages", &S::virtual_stages, "all that share the layers out evenly");
  counts("context", &S::context, "all divisors of the chips that leave a rank 256 tokens");
  counts("expert", &S::expert, "all divisors of the experts");
  counts("expert_tensor", &S::expert_tensor, "1 and tensor");
  counts("hybrid_shard", &S::hybrid_shard, "1, and the ranks of a node");
  add_counts(s, "micro_batch", &S::micro_batch, "of plan.micro_batch")
      .between(1, most_sequences)
      .derived("all divisors of the global batch");
  add_counts(s, "zero", &S::zero, "of plan.zero").between(0, 3).derived("0 to 3");
}

void add_choices(Schema<S>& s) {
  add_custom(
      s, "sequence_parallel", "booleans", "a list such as [true, false]",
      [](const Given& given, S& object) {
        return read_list(given, object.sequence_parallel,
                         [](const Given& one) -> std::optional<bool> {
                           bool value = false;
                           return read_value(one, value) ? std::optional(value) : std::nullopt;
                         });
      },
      "of plan.sequence_parallel")
      .derived("both");
  add_words(s, "context_exchange", &S::context_exchange, context_exchange_words(),
            "of plan.context_exchange")
      .derived("all");
  add_words(s, "recompute", &S::recompute, recompute_words(), "of plan.recompute")
      .derived("none, selective and full");
  add_words(s, "schedule", &S::schedule, schedule_words(), "of plan.schedule").derived("all");
}

} // namespace

const Schema<SearchSpace>& search_schema() {
  static const Schema<S> schema = [] {
    Schema<S> s{"search", "The plans that `search` chooses from ([search])", {}};
    add_axes(s);
    add_choices(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
