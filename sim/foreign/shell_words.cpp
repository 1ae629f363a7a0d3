#include "foreign/shell_words.hpp"

#include <algorithm>
#include <string_view>

namespace clustersim {
namespace {

constexpr std::size_t most_words = 20000, longest_word = 65536;
constexpr std::size_t most_bytes = std::size_t{8} << 20U; // of all words and values together
constexpr std::size_t most_variables = 5000;

bool is_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

class Reader {
public:
  explicit Reader(const std::string& text) : text_(text) {}

  ShellScript read() {
    while (at_ < text_.size() && script_.words.size() < most_words && written_ < most_bytes)
      step();
    end_word();
    return std::move(script_);
  }

private:
  [[nodiscard]] char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void step() {
    const char c = text_[at_];
    if (c == '\\') {
      escape();
    } else if (c == '\'' && !double_) {
      single_quoted();
    } else if (c == '"') {
      double_ = !double_;
      open_word();
      advance();
    } else if (c == '$') {
      variable();
    } else if (double_) {
      push(c);
    } else {
      plain(c);
    }
  }

  void plain(char c) {
    const bool ends = is_space(c) || c == '\n' || c == ';' || c == '&' || c == '|';
    if (ends) {
      end_word();
      advance();
    } else if (c == '#' && !open_) {
      while (at_ < text_.size() && text_[at_] != '\n')
        advance();
    } else if (c == '(' && open_ && word_.text.ends_with('=')) {
      array(); // NAME=( words )
    } else if (c == '(' || c == ')') {
      end_word();
      advance();
    } else {
      push(c);
    }
  }

  void escape() {
    if (next() == '\n') {
      advance();
      advance();
    } else if (next() == '\r') {
      advance();
    } else {
      advance();
      if (at_ < text_.size()) push(text_[at_]);
    }
  }

  void single_quoted() {
    open_word();
    advance();
    while (at_ < text_.size() && text_[at_] != '\'')
      push(text_[at_]);
    if (at_ < text_.size()) advance();
  }

  /// All up to the closing bracket is the variable's value; its words are split where it is used.
  void array() {
    advance();
    std::string inside;
    while (at_ < text_.size() && text_[at_] != ')') {
      const bool comment =
          text_[at_] == '#' && (inside.empty() || is_space(inside.back()) || inside.back() == '\n');
      while (comment && at_ < text_.size() && text_[at_] != '\n')
        advance();
      if (at_ >= text_.size() || text_[at_] == ')') break;
      inside += text_[at_];
      advance();
    }
    if (at_ < text_.size()) advance();
    const ShellScript inner = read_shell_in(inside);
    std::string joined;
    for (const ShellWord& word : inner.words)
      joined += (joined.empty() ? "" : " ") + word.text;
    append(joined);
    end_word();
  }

  [[nodiscard]] ShellScript read_shell_in(const std::string& inside) const {
    if (depth_ >= 4) return {};
    Reader reader(inside);
    reader.outer_ = this;
    reader.depth_ = depth_ + 1;
    return reader.read();
  }

  void variable() {
    const std::size_t start = at_;
    advance();
    const bool braces = at_ < text_.size() && text_[at_] == '{';
    if (braces) advance();
    std::string name;
    while (at_ < text_.size() && is_name(text_[at_])) {
      name += text_[at_];
      advance();
    }
    std::string otherwise;
    if (braces) otherwise = rest_of_braces();
    const std::string* value = value_of(name);
    if (value != nullptr || !otherwise.empty()) {
      insert(value != nullptr ? std::string(*value) : otherwise);
    } else {
      append(text_.substr(start, at_ - start)); // left as it is written
    }
  }

  [[nodiscard]] const std::string* value_of(const std::string& name) const {
    const auto found = script_.variables.find(name);
    if (found != script_.variables.end()) return &found->second;
    return outer_ == nullptr ? nullptr : outer_->value_of(name);
  }

  /// ":-8}" of ${N:-8} gives 8; "[@]}" gives nothing.
  std::string rest_of_braces() {
    std::string rest;
    while (at_ < text_.size() && text_[at_] != '}' && text_[at_] != '\n') {
      rest += text_[at_];
      advance();
    }
    if (at_ < text_.size() && text_[at_] == '}') advance();
    if (rest.starts_with(":-")) return rest.substr(2);
    return rest.starts_with("-") ? rest.substr(1) : "";
  }

  /// A value splits into words where it stands unquoted, also in the quotes that arrays are used
  /// in.
  void insert(const std::string& value) {
    const bool assigns = open_ && word_.text.find('=') != std::string::npos;
    if (assigns || value.find_first_of(" \t\n") == std::string::npos) return append(value);
    for (const char c : value) {
      if (is_space(c) || c == '\n') {
        end_word();
      } else {
        append(std::string(1, c));
      }
    }
  }

  void open_word() {
    if (open_) return;
    open_ = true;
    word_ = {"", line_, column_};
  }
  void append(const std::string& text) {
    open_word();
    written_ += text.size();
    if (word_.text.size() + text.size() <= longest_word) word_.text += text;
  }
  void push(char c) {
    append(std::string(1, c));
    advance();
  }
  void advance() {
    if (at_ >= text_.size()) return;
    column_ = text_[at_] == '\n' ? 1 : column_ + 1;
    line_ += text_[at_] == '\n' ? 1 : 0;
    ++at_;
  }

  void end_word() {
    if (!open_) return;
    open_ = false;
    const std::size_t equals = word_.text.find('=');
    const std::string_view name = std::string_view(word_.text).substr(0, equals);
    const bool assigns = equals != std::string::npos && !name.empty() &&
                         !(name.front() >= '0' && name.front() <= '9') &&
                         std::ranges::all_of(name, is_name);
    if (assigns && script_.variables.size() < most_variables) {
      script_.variables[std::string(name)] = word_.text.substr(equals + 1);
    } else if (!assigns && script_.words.size() < most_words) {
      script_.words.push_back(word_);
    }
  }

  const std::string& text_;
  ShellScript script_;
  ShellWord word_;
  bool open_ = false, double_ = false;
  const Reader* outer_ = nullptr; // of an array: what encloses it
  int depth_ = 0;
  std::size_t written_ = 0;
  std::size_t at_ = 0, line_ = 1, column_ = 1;
};

} // namespace

ShellScript read_shell(const std::string& text) {
  return Reader(text).read();
}

} // namespace clustersim
