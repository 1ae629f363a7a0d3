#pragma once
// Where results go. Standard output carries results and nothing else; a file appears whole or not
// at all. A reader who closes the pipe ends the program quietly.

#include "cli/options.hpp"
#include "report/layout.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace clustersim::cli {

enum class Format { text, json, csv };

/// From --json and --csv, else the ending of -o FILE, else text. Throws Failure when the verb has
/// no such format.
[[nodiscard]] Format chosen_format(const Options& options, std::initializer_list<Format> offered);

/// To -o FILE or standard output. Throws Failure (74) when it cannot be written.
void deliver(const Options& options, std::string_view text);

/// Writes FILE in one piece: a temporary file beside it, then a rename. Refuses to replace an
/// existing file unless `replace`.
void write_file(const std::string& path, std::string_view text, bool replace);

/// To standard error; failures there have nowhere to go and are ignored.
void say(std::string_view text);
/// As `say`, but not under --quiet.
void note(const Options& options, std::string_view text);

/// How text for standard output, or for -o FILE, may look: colour and Unicode.
[[nodiscard]] TextStyle output_style(const Options& options);
/// Colour on standard error.
[[nodiscard]] bool error_colour(const Options& options);

} // namespace clustersim::cli
