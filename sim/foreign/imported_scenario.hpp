#pragma once
// A scenario in another tool's words, as a config file of ours: what was read, and what was not.

#include "base/diagnostic.hpp"
#include "spec/catalogue.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

struct ImportedScenario {
  std::string toml; // loads as a config
  std::vector<std::string> inferred, defaulted, ignored;
};

/// One input file: its path and its text.
struct ForeignFile {
  std::string path, text;
};

/// An argument list of Megatron-LM's pretrain_gpt.py or a shell script that holds one. What it does
/// not say, such as the machine, is a default of Megatron-LM or ours, and listed.
[[nodiscard]] std::optional<ImportedScenario> import_megatron(const ForeignFile& file,
                                                              Diagnostics& out);

/// Calculon's application, execution and system files (Isaev et al., SC23), in any order. The
/// machine becomes the nearest node of the catalogue with Calculon's rates laid over it; Calculon's
/// efficiencies do not apply, since ours are measured.
[[nodiscard]] std::optional<ImportedScenario> import_calculon(const std::vector<ForeignFile>& files,
                                                              const Catalogue& catalogue,
                                                              Diagnostics& out);

/// Sections of a config while they are gathered; written in the order of first use.
class ConfigText {
public:
  explicit ConfigText(std::string title) : title_(std::move(title)) {}
  void set(const std::string& section, const std::string& key, std::int64_t value);
  void set(const std::string& section, const std::string& key, bool value);
  void set(const std::string& section, const std::string& key, const std::string& word);
  void set(const std::string& section, const std::string& key, const char* word) {
    set(section, key, std::string{word});
  }
  void set(const std::string& section, const std::string& key,
           const std::vector<std::int64_t>& numbers);
  [[nodiscard]] std::string text() const;

private:
  void put(const std::string& section, const std::string& key, std::string value);
  using Section = std::pair<std::string, std::vector<std::pair<std::string, std::string>>>;
  std::string title_;
  std::vector<Section> sections_;
};

} // namespace clustersim
