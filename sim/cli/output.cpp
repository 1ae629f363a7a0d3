#include "cli/output.hpp"

#include "base/text.hpp"
#include "cli/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace clustersim::cli {
namespace {

Failure cannot_write(std::string_view what, int error) {
  return {ExitCode::cannot_read_or_write,
          fmt::format("cannot write {}: {}", printable(what), std::strerror(error))};
}

/// 0, or the error that stopped it.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return 0;
}

/// A file under a temporary name, removed unless it was moved to its place.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string& target)
      : path_(fmt::format("{}.{}.tmp", target, ::getpid())),
        file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (file_ < 0) {
      throw cannot_write(target, errno);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    close();
    if (!path_.empty()) {
      ::unlink(path_.c_str());
    }
  }

  void take_mode(mode_t mode) const { static_cast<void>(::fchmod(file_, mode & 07777U)); }

  /// 0, or the error: `write` may succeed and `fsync` or `close` still find the disk full.
  int fill(std::string_view text) {
    const int error = write_all(file_, text);
    const int synced = error == 0 && ::fsync(file_) != 0 && errno != EINVAL ? errno : error;
    const int closed = close();
    return synced != 0 ? synced : closed;
  }

  int move_to(const std::string& target, bool replace) {
    if (replace) {
      if (::rename(path_.c_str(), target.c_str()) != 0) {
        return errno;
      }
      path_.clear();
      return 0;
    }
    // A hard link fails where the target exists, even if it appeared a moment ago.
    return ::link(path_.c_str(), target.c_str()) == 0 ? 0 : errno;
  }

private:
  int close() {
    const int result = file_ >= 0 && ::close(file_) != 0 ? errno : 0;
    file_ = -1;
    return result;
  }

  std::string path_;
  int file_ = -1;
};

/// Devices and pipes have no name to swap: write into them.
void write_in_place(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    throw cannot_write(path, errno);
  }
  const int error = write_all(file, text);
  const int closed = ::close(file) != 0 ? errno : 0;
  if (error != 0 || closed != 0) {
    throw cannot_write(path, error != 0 ? error : closed);
  }
}

bool unicode_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') {
      const std::string id = canonical_id(value);
      return id.find("utf-8") != std::string::npos || id.find("utf8") != std::string::npos;
    }
  }
  return false;
}

bool colour_on(std::string_view when, int file) {
  if (when != "auto") {
    return when == "always";
  }
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(file) == 1 && (off == nullptr || *off == '\0') &&
         (terminal == nullptr || std::string_view{terminal} != "dumb");
}

std::string_view name_of(Format format) {
  return format == Format::text ? "text" : format == Format::json ? "JSON" : "CSV";
}

} // namespace

Format chosen_format(const Options& options, std::initializer_list<Format> offered) {
  Format format = options.json ? Format::json : options.csv ? Format::csv : Format::text;
  const std::string ending =
      canonical_id(std::filesystem::path(options.output).extension().string());
  if (!options.json && !options.csv && !ending.empty()) {
    if (ending != ".json" && ending != ".csv" && ending != ".txt") {
      throw misuse(
          fmt::format("'{}' does not say which format to write", printable(options.output)),
          "end the name with .txt, .json or .csv, or give --json or --csv");
    }
    format = ending == ".json" ? Format::json : ending == ".csv" ? Format::csv : Format::text;
  }
  if (std::find(offered.begin(), offered.end(), format) == offered.end()) {
    std::string all;
    for (const Format one : offered) {
      all += fmt::format("{}{}", all.empty() ? "it writes " : " or ", name_of(one));
    }
    throw misuse(fmt::format("'{}' has no {} form", options.verb, name_of(format)), all);
  }
  return format;
}

void deliver(const Options& options, std::string_view text) {
  if (!options.output.empty() && options.output != "-") {
    write_file(options.output, text, true);
    note(options, fmt::format("wrote {}\n", printable(options.output)));
    return;
  }
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) {
    throw cannot_write("standard output", error);
  }
}

void write_file(const std::string& path, std::string_view text, bool replace) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !replace) {
    throw cannot_write(path, EEXIST);
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) {
    throw cannot_write(path, errno);
  }
  if (exists && !S_ISREG(status.st_mode)) {
    write_in_place(path, text);
    return;
  }
  // Through symbolic links, so that the link survives and its target is replaced.
  std::error_code none;
  const auto real = std::filesystem::canonical(path, none);
  const std::string target = none ? path : real.string();
  TemporaryFile temporary(target);
  if (exists) {
    temporary.take_mode(status.st_mode);
  }
  int error = temporary.fill(text);
  error = error == 0 ? temporary.move_to(target, replace) : error;
  if (error != 0) {
    throw cannot_write(path, error);
  }
}

void say(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void note(const Options& options, std::string_view text) {
  if (!options.quiet) {
    say(text);
  }
}

TextStyle output_style(const Options& options) {
  TextStyle style;
  style.unicode = unicode_locale();
  style.colour = options.output.empty() ? colour_on(options.colour, STDOUT_FILENO)
                                        : options.colour == "always";
  style.detail = options.verbose ? Detail::full : options.quiet ? Detail::brief : Detail::normal;
  return style;
}

bool error_colour(const Options& options) {
  return colour_on(options.colour, STDERR_FILENO);
}

} // namespace clustersim::cli
