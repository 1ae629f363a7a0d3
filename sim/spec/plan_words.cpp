#include "base/bug.hpp"
#include "spec/schemas.hpp"

namespace clustersim {
namespace {

template <class E>
std::string_view word_of(const Choices<E>& words, E wanted) {
  for (const auto& [word, value] : words) {
    if (value == wanted) return word;
  }
  throw Bug("a value outside its enumeration");
}

} // namespace

const Choices<Recompute>& recompute_words() {
  static const Choices<Recompute> words{{"none", Recompute::none},
                                        {"selective", Recompute::selective},
                                        {"operators", Recompute::operators},
                                        {"full", Recompute::full}};
  return words;
}

const Choices<Schedule>& schedule_words() {
  static const Choices<Schedule> words{{"gpipe", Schedule::gpipe},
                                       {"1f1b", Schedule::one_f_one_b},
                                       {"zb-h1", Schedule::zero_bubble},
                                       {"dualpipe", Schedule::dual_pipe}};
  return words;
}

const Choices<ContextExchange>& context_exchange_words() {
  static const Choices<ContextExchange> words{{"ring", ContextExchange::ring},
                                              {"all-gather", ContextExchange::all_gather},
                                              {"ulysses", ContextExchange::ulysses}};
  return words;
}

const Choices<Tier>& tier_words() {
  static const Choices<Tier> words{
      {"none", Tier::chip}, {"host", Tier::host}, {"nvme", Tier::nvme}};
  return words;
}

std::string_view spelled(Recompute recompute) {
  return word_of(recompute_words(), recompute);
}
std::string_view spelled(Schedule schedule) {
  return word_of(schedule_words(), schedule);
}
std::string_view spelled(ContextExchange exchange) {
  return word_of(context_exchange_words(), exchange);
}
std::string_view spelled(Tier tier) {
  return word_of(tier_words(), tier);
}

} // namespace clustersim
