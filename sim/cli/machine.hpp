#pragma once
// What `collective` and `topology` have in common: a machine and a collective, by name.

#include "base/diagnostic.hpp"
#include "cli/options.hpp"
#include "network/collective.hpp"
#include "study/machine.hpp"

#include <optional>
#include <string>

namespace clustersim::cli {

/// A node of the catalogue with a fabric, or the cluster of a scenario. Prints diagnostics; nothing
/// on error, and `code` is then what to exit with. --set takes a scenario's keys with a scenario;
/// with a node, keys of the node ("nic.gpu_direct"), of the fabric named by --fabric ("fabric.…"),
/// and override.KIND.ID.KEY.
[[nodiscard]] std::optional<Machine> machine_from(const Options& options, const std::string& name,
                                                  ExitCode& code);

/// Throw Failure with the nearest name.
[[nodiscard]] CollectiveKind collective_from(const std::string& word);
[[nodiscard]] std::string algorithm_from(const std::string& word); // empty: the automatic choice
[[nodiscard]] int count_from(std::string_view option, const std::string& text, int otherwise);

} // namespace clustersim::cli
