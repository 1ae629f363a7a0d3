#include "cli/parser.hpp"

#include "base/text.hpp"
#include "cli/failure.hpp"
#include "cli/option_table.hpp"
#include "cli/verbs.hpp"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace clustersim::cli {
namespace {

/// `CLI::App` wants one target per option; flags, texts and lists differ only in how they are
/// added.
struct Adder {
  CLI::App& app;
  Options& options;
  std::string names, help;

  CLI::Option* operator()(bool Options::*flag) const { return add(options.*flag); }
  CLI::Option* operator()(std::string Options::*text) const { return add(options.*text); }
  CLI::Option* operator()(std::vector<std::string> Options::*list) const {
    return add(options.*list);
  }
  CLI::Option* operator()(bool KernelOptions::*flag) const { return add(options.kernel.*flag); }
  CLI::Option* operator()(std::string KernelOptions::*text) const {
    return add(options.kernel.*text);
  }
  CLI::Option* operator()(std::vector<std::string> KernelOptions::*list) const {
    return add(options.kernel.*list);
  }
  CLI::Option* operator()(bool PlanSearchOptions::*flag) const { return add(options.search.*flag); }
  CLI::Option* operator()(std::string PlanSearchOptions::*text) const {
    return add(options.search.*text);
  }
  CLI::Option* operator()(std::vector<std::string> PlanSearchOptions::*list) const {
    return add(options.search.*list);
  }

private:
  CLI::Option* add(bool& flag) const { return app.add_flag(names, flag, help); }
  CLI::Option* add(std::string& text) const {
    return app.add_option(names, text, help)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  CLI::Option* add(std::vector<std::string>& list) const {
    // One value each time, or `--set a=1 file.toml` would swallow the file.
    return app.add_option(names, list, help)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
};

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& known) {
  const auto near = nearest_name(wanted, known);
  return near ? fmt::format("did you mean \"{}\"?", *near) : "";
}

Failure unknown_option(const std::string& text) {
  const std::string name = text.substr(0, text.find('='));
  std::vector<std::string> known;
  for (const OptionSpec& spec : option_table()) {
    known.emplace_back(spec.name());
  }
  std::string hint = did_you_mean(name, known);
  if (name == "--colour") {
    hint = "did you mean \"--color\"?";
  }
  return misuse(fmt::format("unknown option '{}'", printable(name)),
                hint.empty() ? "see clustersim help" : hint);
}

/// CLI11 says "--set: 1 required TEXT missing".
Failure missing_value(const std::string& message) {
  const std::string name = message.substr(0, message.find(':'));
  for (const OptionSpec& spec : option_table()) {
    if (spec.name() == name) {
      return misuse(fmt::format("'{}' needs a value: {} {}", name, name, spec.value));
    }
  }
  return misuse(message, "see clustersim help");
}

Failure unknown_verb(const std::string& text) {
  std::vector<std::string> known;
  for (const Verb& verb : verbs()) {
    if (!verb.hidden) {
      known.emplace_back(verb.name);
    }
  }
  std::string hint = did_you_mean(text, known);
  if (hint.empty() && text.ends_with(".toml")) {
    hint = fmt::format("try: clustersim run {}", printable(text));
  }
  return misuse(fmt::format("unknown verb '{}'", printable(text)),
                hint.empty() ? "see clustersim help" : hint);
}

void refuse_what_does_not_apply(const Options& options, const Verb& verb) {
  for (const std::string& name : options.given) {
    const bool known =
        std::find(verb.options.begin(), verb.options.end(), name) != verb.options.end();
    if (!known && !option(name).global) {
      throw misuse(fmt::format("option '{}' does not apply to '{}'", name, verb.name),
                   fmt::format("see clustersim help {}", verb.name));
    }
  }
  if (options.arguments.size() > verb.most_arguments) {
    const std::string& extra = options.arguments[verb.most_arguments];
    throw misuse(fmt::format("'{}' is one argument too many for '{}'", printable(extra), verb.name),
                 fmt::format("usage: clustersim {} {}", verb.name, verb.arguments));
  }
}

void refuse_bad_values(const Options& options) {
  const std::vector<std::string> colours{"always", "never", "auto"};
  if (std::find(colours.begin(), colours.end(), options.colour) == colours.end()) {
    throw misuse(fmt::format("--color cannot be '{}'", printable(options.colour)),
                 "expected always, never or auto");
  }
  if (options.json && options.csv) {
    throw misuse("--json and --csv exclude each other");
  }
}

/// Finds the verb first, so that a misspelt one is named rather than its options.
void refuse_what_is_wrong(const Options& options, const std::vector<std::string>& unknown) {
  const Verb* verb = options.verb.empty() ? nullptr : find_verb(options.verb);
  if (verb == nullptr && !options.verb.empty()) {
    throw unknown_verb(options.verb);
  }
  for (const std::string& extra : unknown) {
    if (extra != "--") { // what ends the options
      throw unknown_option(extra);
    }
  }
  refuse_bad_values(options);
  if (verb != nullptr && !options.help) {
    refuse_what_does_not_apply(options, *verb);
  }
}

} // namespace

Options parse(int argc, const char* const* argv) {
  Options options;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string, CLI::Option*> added;
  for (const OptionSpec& spec : option_table()) {
    added[std::string{spec.name()}] = std::visit(
        Adder{app, options, std::string{spec.names}, std::string{spec.help}}, spec.target);
  }
  std::vector<std::string> words;
  app.add_option("words", words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    throw missing_value(error.what());
  } catch (const CLI::ParseError& error) {
    throw misuse(error.what(), "see clustersim help");
  }
  if (!words.empty()) {
    options.verb = words.front();
    options.arguments.assign(words.begin() + 1, words.end());
  }
  for (const auto& [name, one] : added) {
    if (one->count() > 0) {
      options.given.push_back(name);
    }
  }
  refuse_what_is_wrong(options, app.remaining());
  return options;
}

} // namespace clustersim::cli
