#include "cli/interrupt.hpp"

#include <csignal>

namespace clustersim::cli {
namespace {

// All that a signal handler may touch.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t caught = 0;

extern "C" void on_signal(int number) {
  caught = number;
  std::signal(number, SIG_DFL);
}

} // namespace

Interrupt::Interrupt() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interrupt::asked() const {
  return caught != 0;
}

ExitCode Interrupt::exit_code() const {
  return caught == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

} // namespace clustersim::cli
