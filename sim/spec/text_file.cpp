#include "spec/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace clustersim {

void cannot_read(const std::string& path, const std::string& why, const std::string& remedy,
                 Diagnostics& out) {
  Diagnostic diagnostic;
  diagnostic.where.file = path;
  diagnostic.message = "cannot read: " + why;
  diagnostic.suggestion = remedy;
  out.add(std::move(diagnostic));
  out.mark_io_failure();
}

bool can_be_read(const std::string& path, Pipes pipes, Diagnostics& out) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    cannot_read(path, "not a file name", "", out);
    return false;
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    cannot_read(path, "no such file", "", out);
  } else if (error) {
    cannot_read(path, error.message(), "", out);
  } else if (std::filesystem::is_directory(status)) {
    cannot_read(path, "it is a directory", "name a file in it", out);
  } else if (!std::filesystem::is_regular_file(status) &&
             !(pipes == Pipes::accepted && std::filesystem::is_fifo(status))) {
    cannot_read(path, "it is not an ordinary file", "", out);
  } else {
    return true;
  }
  return false;
}

std::optional<std::string> read_text_file(const std::string& path, Diagnostics& out) {
  if (!can_be_read(path, Pipes::refused, out)) {
    return std::nullopt;
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) {
    cannot_read(path, std::generic_category().message(errno), "", out);
    return std::nullopt;
  }
  std::string text;
  std::array<char, 65536> buffer{};
  while (text.size() <= largest_input) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (got == 0) {
      break;
    }
    text.append(buffer.data(), got);
  }
  if (std::ferror(file.get()) != 0) {
    cannot_read(path, std::generic_category().message(errno), "", out);
    return std::nullopt;
  }
  return text;
}

} // namespace clustersim
