#pragma once
// Internal to this folder: Megatron-LM's arguments by name, noting which were used, and what the
// rest of the importer made of them.

#include "foreign/imported_scenario.hpp"
#include "foreign/shell_words.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clustersim {

class MegatronArguments {
public:
  MegatronArguments(const ForeignFile& file, Diagnostics& out);

  [[nodiscard]] bool empty() const { return given_.empty(); }
  [[nodiscard]] bool has(const std::string& name);
  void use(const std::string& name) { used_.insert(name); }
  /// A whole number from 0 to 10^12; anything else is a diagnostic.
  std::optional<std::int64_t> count(const std::string& name);
  /// Noted as defaulted where it is absent.
  std::int64_t count(const std::string& name, std::int64_t otherwise);
  std::optional<double> number(const std::string& name);
  std::string text(const std::string& name);
  /// An upper-case variable of the script that holds a count.
  std::optional<std::int64_t> variable(std::initializer_list<const char*> names);
  void wrong(const std::string& name, const std::string& message, const std::string& expected);
  [[nodiscard]] bool is_wrong() const { return wrong_; }
  /// "--seed", of all that nothing asked for.
  [[nodiscard]] std::vector<std::string> unused() const;

  std::vector<std::string> inferred, defaulted;

private:
  struct Argument {
    std::vector<std::string> values;
    std::size_t line = 0, column = 0;
    std::string written;
  };
  void take(const std::vector<ShellWord>& words);
  const Argument* find(const std::string& name);
  ShellScript script_;
  std::map<std::string, Argument> given_; // without dashes, '_' as '-'
  std::set<std::string> used_;
  std::string path_;
  Diagnostics* out_;
  bool wrong_ = false;
};

} // namespace clustersim
