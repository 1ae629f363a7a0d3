#include "cli/help.hpp"

#include "cli/option_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

std::string heading(std::string_view text, TextStyle style) {
  return "\n" + paint(Ink::bold, text, style) + "\n";
}

std::string usage(const Verb& verb) {
  return fmt::format("clustersim {}{}{} [OPTIONS]", verb.name, verb.arguments.empty() ? "" : " ",
                     verb.arguments);
}

std::string left_of(const OptionSpec& spec) {
  std::string text{spec.names};
  if (const std::size_t comma = text.find(','); comma != std::string::npos) {
    text.replace(comma, 1, ", ");
  } else {
    text = "    " + text;
  }
  return spec.value.empty() ? text : fmt::format("{} {}", text, spec.value);
}

std::string option_lines(const Verb& verb, bool global) {
  std::string out;
  for (const OptionSpec& spec : option_table()) {
    const bool named =
        std::find(verb.options.begin(), verb.options.end(), spec.name()) != verb.options.end();
    if (global ? spec.global : named) {
      out += hanging("  " + pad_right(left_of(spec), 24) + " ", spec.help);
    }
  }
  return out;
}

struct ExitCodeText {
  int code;
  std::string_view meaning, example;
};

constexpr std::array exit_codes{
    ExitCodeText{0, "done", "`clustersim run dgx_h100`"},
    ExitCodeText{1, "a check that was asked for failed",
                 "`check` found mistakes; a result is worse than `--fail-on` allows"},
    ExitCodeText{2, "bad input, bad command line, infeasible plan",
                 "an unknown key, a misspelt verb, heads not divisible by the tensor axis"},
    ExitCodeText{3, "valid, but does not fit", "the model needs more memory than a chip has"},
    ExitCodeText{70, "our bug", "please report it"},
    ExitCodeText{74, "cannot read or write", "no such file, disk full, no permission"},
    ExitCodeText{130, "interrupted", "Ctrl-C (SIGINT)"},
    ExitCodeText{143, "terminated", "SIGTERM"},
};

} // namespace

std::string overview(TextStyle style) {
  std::string out = "How long does a training step take on this cluster, does it fit, what bounds "
                    "it?\n";
  out += heading("Examples", style);
  for (const char* line : {"clustersim run dgx_h100            Llama 3 70B on 16 DGX H100",
                           "clustersim init my-cluster.toml    a scenario of your own"}) {
    out += fmt::format("  {}\n", line);
  }
  out += heading("Verbs: clustersim help VERB tells more", style);
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) {
      out += fmt::format("  {} {}\n", pad_right(verb.name, 10), verb.summary);
    }
  }
  return out;
}

std::string help_for(const Verb& verb, TextStyle style) {
  std::string out = fmt::format("{}: {}\n", paint(Ink::bold, verb.name, style), verb.summary);
  if (!verb.examples.empty()) {
    out += heading("Examples", style);
    for (const std::string_view example : verb.examples) {
      out += fmt::format("  {}\n", example);
    }
  }
  out += heading("Usage", style) + "  " + usage(verb) + "\n";
  if (!verb.details.empty()) {
    out += "\n" + hanging("", verb.details);
  }
  const std::string own = option_lines(verb, false);
  if (!own.empty()) {
    out += heading("Options", style) + own;
  }
  return out + heading("Every verb", style) + option_lines(verb, true);
}

std::string reference_cli() {
  std::string out = "# Command line\n\nWritten by `clustersim reference cli`; a test fails when it "
                    "is stale.\n\nResults go to standard output, everything else to standard "
                    "error. Exit codes: [exit-codes.md](exit-codes.md).\n";
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) {
      out += fmt::format("\n## {}\n\n```text\n{}```\n", verb.name, help_for(verb, {}));
    }
  }
  return out;
}

std::string reference_exit_codes() {
  std::string out = "# Exit codes\n\nWritten by `clustersim reference exit-codes`; a test fails "
                    "when it is stale.\n\n| code | meaning | for example |\n|---:|---|---|\n";
  for (const ExitCodeText& one : exit_codes) {
    out += fmt::format("| {} | {} | {} |\n", one.code, one.meaning, one.example);
  }
  return out +
         "\nA reader that closes the pipe (`clustersim list chips | head -1`) ends the program "
         "quietly with the code it would have had.\n";
}

} // namespace clustersim::cli
