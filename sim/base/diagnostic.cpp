#include "base/diagnostic.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace clustersim {
namespace {

constexpr std::size_t most_shown = 20;

struct Paint {
  bool colour = false;
  [[nodiscard]] std::string operator()(std::string_view code, std::string_view text) const {
    return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
};

std::string_view word_for(Severity severity) {
  switch (severity) {
  case Severity::error:
    return "error";
  case Severity::warning:
    return "warning";
  case Severity::note:
    return "note";
  }
  throw Bug("severity outside its enumeration");
}

std::string_view colour_for(Severity severity) {
  switch (severity) {
  case Severity::error:
    return "1;31";
  case Severity::warning:
    return "1;35";
  case Severity::note:
    return "1;36";
  }
  throw Bug("severity outside its enumeration");
}

std::string place(const SourceLocation& where) {
  if (where.line == 0) return fmt::format("{}:", printable(where.file));
  if (where.column == 0) return fmt::format("{}:{}:", printable(where.file), where.line);
  return fmt::format("{}:{}:{}:", printable(where.file), where.line, where.column);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

// The offending line with a caret below it. A long line is cut to a window around the caret.
std::string excerpt(const Diagnostic& diagnostic, const Paint& paint) {
  constexpr std::size_t window = 96, lead = 48;
  std::string line = diagnostic.line_text;
  std::replace(line.begin(), line.end(), '\t', ' ');
  if (diagnostic.where.column == 0) return "  " + printable(line.substr(0, window)) + "\n";
  const std::size_t caret = std::min(diagnostic.where.column - 1, line.size());
  std::size_t begin = line.size() > window && caret > lead ? caret - lead : 0;
  while (begin > 0 && begin < caret && continues_code_point(line[begin]))
    ++begin;
  std::size_t end = std::min(line.size(), begin + window);
  while (end < line.size() && end > caret && continues_code_point(line[end]))
    --end;
  const std::string_view view = line;
  const std::string before =
      (begin > 0 ? "..." : "") + printable(view.substr(begin, caret - begin));
  const std::size_t marked = std::min(std::max<std::size_t>(1, diagnostic.length), end - caret);
  const std::string under = printable(view.substr(caret, marked));
  const std::string after = printable(view.substr(caret + marked, end - caret - marked));
  const std::string underline =
      "^" + std::string(std::max<std::size_t>(1, display_width(under)) - 1, '~');
  return fmt::format("  {}{}{}{}\n  {}{}\n", before, under, after, end < line.size() ? "..." : "",
                     std::string(display_width(before), ' '), paint("1;32", underline));
}

// A suggestion of one or two words is a name to ask about; anything longer is a remedy in itself.
std::string advice(const std::string& suggestion) {
  if (std::count(suggestion.begin(), suggestion.end(), ' ') > 1) return printable(suggestion);
  return fmt::format("did you mean \"{}\"?", printable(suggestion));
}

std::string render_one(const Diagnostic& diagnostic, const Paint& paint) {
  std::string out = fmt::format(
      "{} {} {}\n", paint("1", place(diagnostic.where)),
      paint(colour_for(diagnostic.severity), fmt::format("{}:", word_for(diagnostic.severity))),
      printable(diagnostic.message));
  if (!diagnostic.line_text.empty()) out += excerpt(diagnostic, paint);
  if (!diagnostic.expected.empty())
    out += fmt::format("  expected {}\n", printable(diagnostic.expected));
  if (!diagnostic.suggestion.empty()) out += fmt::format("  {}\n", advice(diagnostic.suggestion));
  return out;
}

// The first twenty in order of position; errors are never crowded out by warnings and notes.
std::vector<Diagnostic> most_important(std::vector<Diagnostic> all) {
  if (all.size() <= most_shown) return all;
  const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
  const auto errors = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_error));
  std::size_t others_left = most_shown - std::min(most_shown, errors);
  std::vector<Diagnostic> shown;
  for (Diagnostic& diagnostic : all) {
    if (shown.size() == most_shown) break;
    if (!is_error(diagnostic) && others_left == 0) continue;
    if (!is_error(diagnostic)) --others_left;
    shown.push_back(std::move(diagnostic));
  }
  return shown;
}

} // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  entries_.push_back(std::move(diagnostic));
}

bool Diagnostics::has_errors() const {
  return io_failure_ || std::any_of(entries_.begin(), entries_.end(), [](const Diagnostic& d) {
           return d.severity == Severity::error;
         });
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::map<std::string, std::size_t> order;
  for (const Diagnostic& entry : entries_)
    order.try_emplace(entry.where.file, order.size());
  const auto position = [&](const Diagnostic& d) {
    return std::tuple(order.at(d.where.file), d.where.line, d.where.column);
  };
  std::vector<Diagnostic> result = entries_;
  std::stable_sort(result.begin(), result.end(), [&](const Diagnostic& a, const Diagnostic& b) {
    return std::tuple_cat(position(a), std::tie(a.severity, a.message)) <
           std::tuple_cat(position(b), std::tie(b.severity, b.message));
  });
  const auto same = [&](const Diagnostic& a, const Diagnostic& b) {
    return position(a) == position(b) && a.severity == b.severity && a.message == b.message;
  };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

ExitCode Diagnostics::exit_code() const {
  if (io_failure_) return ExitCode::cannot_read_or_write;
  return has_errors() ? ExitCode::bad_input : ExitCode::done;
}

void complain(Diagnostics& out, std::string file, std::string message, std::string expected) {
  Diagnostic diagnostic;
  diagnostic.where.file = std::move(file);
  diagnostic.message = std::move(message);
  diagnostic.expected = std::move(expected);
  out.add(std::move(diagnostic));
}

std::string render(const Diagnostics& diagnostics, bool colour) {
  const std::vector<Diagnostic> all = diagnostics.sorted();
  const std::vector<Diagnostic> shown = most_important(all);
  std::string out;
  for (const Diagnostic& diagnostic : shown)
    out += render_one(diagnostic, Paint{colour});
  if (all.size() > shown.size()) out += fmt::format("{} more\n", all.size() - shown.size());
  return out;
}

} // namespace clustersim
