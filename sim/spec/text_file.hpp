#pragma once
// Opening input files, with one wording for everything that cannot be read (exit 74).

#include "base/diagnostic.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace clustersim {

inline constexpr std::size_t largest_input = 4U << 20U; // bytes

enum class Pipes { refused, accepted };

/// Whether there is a file at `path` that ends: no directory, no device. False with a diagnostic.
[[nodiscard]] bool can_be_read(const std::string& path, Pipes pipes, Diagnostics& out);

/// Says that the file cannot be read, and why.
void cannot_read(const std::string& path, const std::string& why, const std::string& remedy,
                 Diagnostics& out);

/// The file's bytes. Refuses directories, devices, pipes, anything larger than `largest_input`.
[[nodiscard]] std::optional<std::string> read_text_file(const std::string& path, Diagnostics& out);

} // namespace clustersim
