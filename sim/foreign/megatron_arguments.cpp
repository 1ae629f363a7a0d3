#include "foreign/megatron_arguments.hpp"

#include "base/text.hpp"
#include "foreign/csv.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

std::string plain_name(std::string name) {
  name.erase(0, 2);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::optional<std::int64_t> whole(const std::string& text) {
  constexpr double most = 1e12;
  const std::optional<double> value = number_from(text);
  if (!value || *value < 0 || *value > most || std::floor(*value) != *value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

} // namespace

MegatronArguments::MegatronArguments(const ForeignFile& file, Diagnostics& out)
    : script_(read_shell(file.text)), path_(file.path), out_(&out) {
  take(script_.words);
  if (!given_.empty()) return;
  // Lists that another script uses.
  for (const auto& [name, value] : script_.variables)
    take(read_shell(value).words);
}

void MegatronArguments::take(const std::vector<ShellWord>& words) {
  Argument* open = nullptr;
  for (const ShellWord& word : words) {
    const bool names = word.text.size() > 2 && word.text.starts_with("--");
    if (names) {
      const std::size_t equals = word.text.find('=');
      Argument& one = given_[plain_name(word.text.substr(0, equals))];
      one = {{}, word.line, word.column, word.text.substr(0, equals)};
      if (equals != std::string::npos) one.values.push_back(word.text.substr(equals + 1));
      open = equals == std::string::npos ? &one : nullptr;
    } else if (open != nullptr) {
      open->values.push_back(word.text);
    }
  }
}

const MegatronArguments::Argument* MegatronArguments::find(const std::string& name) {
  used_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

bool MegatronArguments::has(const std::string& name) {
  return find(name) != nullptr;
}

void MegatronArguments::wrong(const std::string& name, const std::string& message,
                              const std::string& expected) {
  Diagnostic diagnostic;
  diagnostic.where.file = path_;
  if (const Argument* one = find(name)) {
    diagnostic.where.line = one->line;
    diagnostic.where.column = one->column;
  }
  diagnostic.message = message;
  diagnostic.expected = expected;
  out_->add(std::move(diagnostic));
  wrong_ = true;
}

std::optional<std::int64_t> MegatronArguments::count(const std::string& name) {
  const Argument* one = find(name);
  if (one == nullptr) return std::nullopt;
  const std::optional<std::int64_t> value =
      one->values.empty() ? std::nullopt : whole(one->values.front());
  if (!value) {
    wrong(name,
          fmt::format("--{} is no whole number{}", name,
                      one->values.empty()
                          ? std::string{}
                          : fmt::format(": '{}'", printable(one->values.front().substr(0, 60)))),
          "a whole number, or a variable that the script sets");
  }
  return value;
}

std::int64_t MegatronArguments::count(const std::string& name, std::int64_t otherwise) {
  if (!has(name)) {
    defaulted.push_back(fmt::format("--{} = {}", name, otherwise));
    return otherwise;
  }
  return count(name).value_or(1);
}

std::optional<double> MegatronArguments::number(const std::string& name) {
  const Argument* one = find(name);
  return one == nullptr || one->values.empty() ? std::nullopt : number_from(one->values.front());
}

std::string MegatronArguments::text(const std::string& name) {
  const Argument* one = find(name);
  return one == nullptr || one->values.empty() ? "" : one->values.front();
}

std::optional<std::int64_t> MegatronArguments::variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = script_.variables.find(name);
    const auto value = found == script_.variables.end() ? std::nullopt : whole(found->second);
    if (value) return value;
  }
  return std::nullopt;
}

std::vector<std::string> MegatronArguments::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, argument] : given_) {
    if (!used_.contains(name)) names.push_back(printable(argument.written));
  }
  return names;
}

} // namespace clustersim
