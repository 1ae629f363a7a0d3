#include "base/text.hpp"
#include "base/units.hpp"
#include "law/device.hpp"
#include "report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clustersim {
namespace {

std::string kernel_rates(const KernelCalibration& kernels) {
  return kernels.basis == "measured"
             ? fmt::format("Kernel rates were measured on {}.", kernels.name)
             : fmt::format("Kernel rates of {} are carried over from a sibling family.",
                           kernels.name);
}

/// The stack's scalars that are known from training runs alone, all in one sentence.
std::string fitted_scalars(const Scenario& scenario) {
  std::string names;
  for (const ResolvedValue& value : scenario.inputs) {
    if (!value.fitted.empty()) {
      names += fmt::format("{}{} = {}", names.empty() ? "" : ", ", value.key, value.text);
    }
  }
  return names.empty() ? "" : fmt::format("Set on measured training runs: {}.", names);
}

/// Where the chip's family lacks the stack's first choice, or nobody knows that kernel.
std::string attention_kernel(const Scenario& scenario) {
  const std::string& wanted = scenario.training.stack.attention_kernel;
  const std::string runs = attention_kernel_for(scenario.chip(), scenario.training.stack);
  return runs == wanted ? ""
                        : fmt::format("Attention runs the kernel {}: {} has no rates for {}.", runs,
                                      scenario.chip().kernels.name, printable(wanted));
}

std::string rental(const Scenario& scenario) {
  const std::string key = fmt::format("chip.{}.price.cloud", scenario.chip().id);
  for (const ResolvedValue& value : scenario.inputs) {
    if (value.key == key) {
      return fmt::format("Rented chips cost {} each{}.", value.text,
                         value.date.empty() ? "" : ", a price of " + value.date);
    }
  }
  return "";
}

void add_once(std::string sentence, std::vector<std::string>& out) {
  if (std::find(out.begin(), out.end(), sentence) == out.end()) out.push_back(std::move(sentence));
}

/// What is assumed of each chip of the cluster.
void add_chips(const Answer& answer, std::vector<std::string>& out) {
  if (answer.partitions.empty()) {
    out.push_back(kernel_rates(answer.scenario.chip().kernels));
    out.push_back(attention_kernel(answer.scenario));
  }
  for (const PartitionAnswer& part : answer.partitions) {
    add_once(kernel_rates(part.scenario.chip().kernels), out);
    add_once(attention_kernel(part.scenario), out);
  }
}

} // namespace

std::vector<std::string> assumptions_of(const Answer& answer) {
  const Scenario& scenario = answer.scenario;
  std::vector<std::string> out = scenario.assumptions;
  out.emplace_back("MFU counts the model's own work: every matrix product, attention (half of it "
                   "when causal), backward twice forward, nothing recomputed. HFU counts what the "
                   "chips execute.");
  add_chips(answer, out);
  out.push_back(fitted_scalars(scenario));
  if (answer.engine == Engine::event) {
    out.emplace_back("Collectives that run at once share links max-min fairly, and slow kernels "
                     "beside them only while they run.");
  }
  out.emplace_back("Chips draw idle power all the time and, up to their limit, the energy of what "
                   "they compute and move; the node's other parts draw their share all the time.");
  out.push_back(fmt::format("Four of five measured steps are expected between {} and {}, from the "
                            "scatter of measurements about the laws.",
                            format_quantity(answer.explanation.range.low),
                            format_quantity(answer.explanation.range.high)));
  if (answer.partitions.empty()) out.push_back(rental(scenario));
  for (const PartitionAnswer& part : answer.partitions)
    add_once(rental(part.scenario), out);
  std::erase(out, "");
  return out;
}

} // namespace clustersim
