#pragma once
// What a user did wrong, where, and what would have been right. Collected, sorted by position,
// printed twenty at most. Broken invariants of our own are bugs (see base/bug.hpp), not
// diagnostics.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// A place in an input: a file, or the text of a command-line option ("--set plan.tensor=9").
struct SourceLocation {
  std::string file;       // as the user spelt it; "--set" for the command line
  std::size_t line = 0;   // 1-based; 0 = the file as a whole
  std::size_t column = 0; // 1-based, in bytes
};

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  SourceLocation where;
  std::string line_text;  // the offending line, empty when there is none
  std::size_t length = 1; // how many bytes the caret underlines
  std::string message;    // one sentence, lower case, no full stop
  std::string expected;   // "a bandwidth such as \"3.35 TB/s\"", or empty
  std::string suggestion; // nearest valid name, or a remedy of three words and more (printed as it
                          // is); empty when there is none
};

/// Exit codes are fixed by docs/reference/exit-codes.md.
enum class ExitCode {
  done = 0,
  check_failed = 1,
  bad_input = 2,
  does_not_fit = 3,
  our_bug = 70,
  cannot_read_or_write = 74,
  interrupted = 130, // by SIGINT
  terminated = 143   // by SIGTERM
};

class Diagnostics {
public:
  void add(Diagnostic diagnostic);
  [[nodiscard]] bool has_errors() const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Sorted by (file in order of first use, line, column); duplicates removed.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;
  /// Set when the failure is the operating system's (unreadable file): exit 74 instead of 2.
  void mark_io_failure() { io_failure_ = true; }
  [[nodiscard]] ExitCode exit_code() const;

private:
  std::vector<Diagnostic> entries_;
  bool io_failure_ = false;
};

/// An error of a file as a whole, or of the command line.
void complain(Diagnostics& out, std::string file, std::string message, std::string expected = {});

/// The printed form, ninja style: file:line:column: error: message, the line, a caret,
/// "expected …", "did you mean …". Control characters in the input are shown escaped.
[[nodiscard]] std::string render(const Diagnostics& diagnostics, bool colour);

} // namespace clustersim
