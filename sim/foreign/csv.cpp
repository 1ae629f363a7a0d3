#include "foreign/csv.hpp"

#include "base/text.hpp"
#include "spec/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace clustersim {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::size_t shown_line_bytes = 200;

/// Walks over the text once; a record is one row of fields.
class Scanner {
public:
  Scanner(std::string_view text, const std::string& name, const CsvLimits& limits, Diagnostics& out)
      : text_(text), name_(&name), limits_(&limits), out_(&out) {}

  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  [[nodiscard]] std::size_t line() const { return line_; }

  void complain(std::size_t line, std::size_t column, std::string message,
                std::string expected = {}, std::size_t line_start = std::string_view::npos) const {
    Diagnostic diagnostic;
    diagnostic.where = {*name_, line, column};
    diagnostic.message = std::move(message);
    diagnostic.expected = std::move(expected);
    if (line_start != std::string_view::npos) {
      const std::string_view rest = text_.substr(line_start, shown_line_bytes);
      diagnostic.line_text = std::string(rest.substr(0, rest.find_first_of("\r\n")));
    }
    out_->add(std::move(diagnostic));
  }

  /// True when a line was a comment or empty and has been passed over.
  bool skip_line() {
    const char first = text_[position_];
    if (first != '#' && first != '\n' && !(first == '\r' && peek(1) == '\n')) {
      return false;
    }
    const std::size_t end = text_.find('\n', position_);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
    return true;
  }

  /// One row; nothing after a complaint that leaves the rest without meaning.
  std::optional<CsvRow> record() {
    CsvRow row;
    row.line = line_;
    record_start_ = position_;
    while (true) {
      std::optional<std::string> field = one_field();
      if (!field) {
        return std::nullopt;
      }
      row.fields.push_back(std::move(*field));
      if (row.fields.size() > limits_->columns) {
        complain(row.line, 1, fmt::format("more than {} fields in one row", limits_->columns), {},
                 record_start_);
        return std::nullopt;
      }
      if (at_end() || text_[position_] != ',') {
        break;
      }
      ++position_;
    }
    end_line();
    return row;
  }

  [[nodiscard]] std::size_t record_start() const { return record_start_; }

private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void end_line() {
    if (peek(0) == '\r') {
      ++position_;
    }
    if (peek(0) == '\n') {
      ++position_;
    }
    ++line_;
  }

  std::optional<std::string> one_field() { return peek(0) == '"' ? quoted_field() : plain_field(); }

  std::optional<std::string> plain_field() {
    const std::size_t start = position_;
    const std::size_t end = std::min(text_.find_first_of(",\r\n\"", start), text_.size());
    position_ = end;
    if (peek(0) == '"') {
      complain(line_, end - record_start_ + 1,
               "a quote inside a field that does not start with one",
               R"(the whole field in quotes, quotes inside doubled: "a ""b"" c")", record_start_);
      return std::nullopt;
    }
    if (peek(0) == '\r' && peek(1) != '\n') {
      complain(line_, end - record_start_ + 1, "a carriage return that ends no line", {},
               record_start_);
      return std::nullopt;
    }
    return limited(std::string(text_.substr(start, end - start)));
  }

  std::optional<std::string> quoted_field() {
    const std::size_t opened_at_line = line_;
    const std::size_t opened_at = position_ - record_start_ + 1;
    std::string field;
    ++position_;
    while (!at_end()) {
      const std::size_t quote = std::min(text_.find('"', position_), text_.size());
      const std::string_view part = text_.substr(position_, quote - position_);
      line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
      field += part;
      position_ = std::min(quote + 1, text_.size());
      if (quote == text_.size() || peek(0) != '"') {
        return quote == text_.size() ? unterminated(opened_at_line, opened_at)
                                     : closed(std::move(field));
      }
      field += '"';
      ++position_;
    }
    return unterminated(opened_at_line, opened_at);
  }

  std::optional<std::string> unterminated(std::size_t line, std::size_t column) const {
    complain(line, column, "a quoted field that never ends", "a closing quote");
    return std::nullopt;
  }

  std::optional<std::string> closed(std::string field) {
    const char next = peek(0);
    if (!at_end() && next != ',' && next != '\n' && !(next == '\r' && peek(1) == '\n')) {
      complain(line_, 1, "text after the closing quote of a field",
               "a comma or the end of the line");
      return std::nullopt;
    }
    return limited(std::move(field));
  }

  std::optional<std::string> limited(std::string field) const {
    if (field.size() > limits_->field_bytes) {
      complain(line_, 1, fmt::format("a field of more than {} bytes", limits_->field_bytes));
      return std::nullopt;
    }
    return field;
  }

  std::string_view text_;
  const std::string* name_;
  const CsvLimits* limits_;
  Diagnostics* out_;
  std::size_t position_ = 0, line_ = 1, record_start_ = 0;
};

bool good_header(const CsvRow& row, std::vector<std::string>& header, const Scanner& scanner) {
  std::map<std::string, std::size_t> seen;
  bool good = true;
  for (const std::string& field : row.fields) {
    header.push_back(trim(field));
    const std::string& name = header.back();
    if (name.empty()) {
      scanner.complain(row.line, 1,
                       fmt::format("column {} of the header has no name", header.size()));
      good = false;
    } else if (!seen.emplace(name, header.size()).second) {
      scanner.complain(row.line, 1,
                       fmt::format("the header names the column '{}' twice: {} and {}",
                                   printable(name), seen[name], header.size()));
      good = false;
    }
  }
  return good;
}

bool plain_text(std::string_view text, const std::string& name, Diagnostics& out,
                const CsvLimits& limits) {
  Diagnostic diagnostic;
  diagnostic.where.file = name;
  if (text.size() > limits.bytes) {
    diagnostic.message = fmt::format("the file is larger than {} bytes", limits.bytes);
  } else if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    diagnostic.where.line = static_cast<std::size_t>(lines) + 1;
    diagnostic.message = "the file holds a zero byte, so it is no text";
  } else {
    return true;
  }
  out.add(std::move(diagnostic));
  return false;
}

bool read_rows(Scanner& scanner, CsvTable& table, const CsvLimits& limits) {
  bool rectangular = true;
  while (!scanner.at_end()) {
    if (scanner.skip_line()) {
      continue;
    }
    std::optional<CsvRow> row = scanner.record();
    if (!row) {
      return false;
    }
    if (row->fields.size() != table.header.size()) {
      scanner.complain(row->line, 1,
                       fmt::format("this row has {} fields, the header {}", row->fields.size(),
                                   table.header.size()),
                       {}, scanner.record_start());
      rectangular = false;
    }
    if (table.rows.size() >= limits.rows) {
      scanner.complain(row->line, 1, fmt::format("more than {} rows", limits.rows));
      return false;
    }
    table.rows.push_back(std::move(*row));
  }
  return rectangular;
}

} // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - header.begin());
}

std::string_view CsvTable::at(std::size_t row, std::string_view name) const {
  const std::optional<std::size_t> index = column(name);
  if (!index) {
    return {};
  }
  std::string_view field = rows[row].fields[*index];
  const std::size_t first = field.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return field.substr(first, field.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<CsvTable> parse_csv(std::string_view text, const std::string& name, Diagnostics& out,
                                  const CsvLimits& limits) {
  if (!plain_text(text, name, out, limits)) {
    return std::nullopt;
  }
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  Scanner scanner(text, name, limits, out);
  while (!scanner.at_end() && scanner.skip_line()) {
  }
  if (scanner.at_end()) {
    scanner.complain(0, 0, "the file is empty", "a header line that names the columns");
    return std::nullopt;
  }
  CsvTable table;
  table.path = name;
  const std::optional<CsvRow> header = scanner.record();
  if (!header || !good_header(*header, table.header, scanner) ||
      !read_rows(scanner, table, limits)) {
    return std::nullopt;
  }
  return table;
}

std::optional<CsvTable> read_csv(const std::string& path, Diagnostics& out,
                                 const CsvLimits& limits) {
  if (!can_be_read(path, Pipes::accepted, out)) {
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  // One byte more than allowed is enough to see that the file is too large: a pipe has no size to
  // ask for.
  std::vector<char> chunk(std::size_t{1} << 16U);
  while (file && text.size() <= limits.bytes) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    cannot_read(path, std::generic_category().message(errno), "", out);
    return std::nullopt;
  }
  return parse_csv(text, path, out, limits);
}

std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

} // namespace clustersim
