#include "cli/data.hpp"

#include "base/text.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "foreign/huggingface.hpp"
#include "spec/load.hpp"
#include "spec/overlay.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim::cli {
namespace {

namespace fs = std::filesystem;

/// Data beside an installed program: PREFIX/bin/clustersim and PREFIX/share/clustersim.
std::string shipped_data() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "clustersim";
  if (!error && fs::is_directory(installed / "models", error)) {
    return installed.string();
  }
  return CLUSTERSIM_DATA_DIR;
}

bool is_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

} // namespace

std::vector<std::string> roots_of(const Options& options, const std::string& scenario) {
  if (!options.data.empty() && !is_there(options.data)) {
    throw Failure(ExitCode::cannot_read_or_write,
                  fmt::format("--data: no directory '{}'", printable(options.data)));
  }
  return data_roots(scenario, {options.data}, shipped_data());
}

Catalogue open_catalogue(const Options& options, const std::string& scenario) {
  Catalogue catalogue(roots_of(options, scenario));
  for (const std::string& path : options.calibrations) {
    Diagnostics diagnostics;
    auto overlay = load_overlay(path, catalogue, diagnostics);
    print(options, diagnostics);
    if (!overlay) {
      throw Failure(diagnostics.exit_code(),
                    fmt::format("--calibration: cannot use '{}'", printable(path)));
    }
    catalogue.lay(std::move(*overlay));
  }
  return catalogue;
}

std::vector<ConfigEntry> configs(const std::vector<std::string>& roots) {
  std::map<std::string, std::string> found;
  for (const std::string& root : roots) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(fs::path(root) / "configs", error)) {
      if (entry.path().extension() == ".toml") {
        found.try_emplace(entry.path().stem().string(), entry.path().string());
      }
    }
  }
  std::vector<ConfigEntry> out;
  for (const auto& [id, path] : found) {
    out.push_back({id, path});
  }
  return out;
}

std::string id_from(const std::string& path) {
  std::string id;
  for (const char c : canonical_id(std::filesystem::path(path).stem().string())) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    id += plain ? c : '-';
  }
  return id;
}

std::string config_path(const Options& options, const std::string& name) {
  if (is_there(name)) {
    return name;
  }
  std::vector<std::string> ids;
  const std::string wanted = canonical_id(fs::path(name).stem().string());
  for (const ConfigEntry& config : configs(roots_of(options))) {
    if (canonical_id(config.id) == wanted && name.find('/') == std::string::npos) {
      return config.path;
    }
    ids.push_back(config.id);
  }
  const auto near = nearest_name(fs::path(name).stem().string(), ids);
  throw Failure(ExitCode::cannot_read_or_write,
                fmt::format("cannot read '{}': no such file", printable(name)),
                near ? fmt::format("did you mean \"{}\"?", *near)
                     : "clustersim list configs shows scenarios to start from");
}

LoadOptions load_options(const Options& options) {
  const auto import = [](const std::string& text, const std::string& path,
                         Diagnostics& out) -> std::optional<ModelText> {
    const auto model = import_huggingface(text, path, "hf", out);
    if (!model) return std::nullopt;
    const std::string given = model->defaulted.empty()
                                  ? std::string{}
                                  : fmt::format("model of {}, by default of its class: {}", path,
                                                fmt::join(model->defaulted, ", "));
    return ModelText{model->toml, given};
  };
  return {options.settings, import};
}

std::optional<Scenario> load(const Options& options, const std::string& path, ExitCode& code) {
  const Catalogue catalogue = open_catalogue(options, path);
  Diagnostics diagnostics;
  auto scenario = load_scenario(path, catalogue, load_options(options), diagnostics);
  print(options, diagnostics);
  code = diagnostics.exit_code();
  return scenario;
}

int thread_count(const Options& options) {
  if (options.threads.empty()) {
    return 0;
  }
  int count = 0;
  const char* end = options.threads.data() + options.threads.size();
  const auto [stop, error] = std::from_chars(options.threads.data(), end, count);
  if (error != std::errc{} || stop != end || count < 1 || count > 4096) {
    throw misuse("--threads takes a number from 1 to 4096");
  }
  return count;
}

void print(const Options& options, const Diagnostics& diagnostics) {
  if (!diagnostics.empty() && (diagnostics.has_errors() || !options.quiet)) {
    say(render(diagnostics, error_colour(options)));
  }
}

} // namespace clustersim::cli
