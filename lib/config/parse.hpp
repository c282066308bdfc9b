// The forms that values and files of settings may have. Pure functions: a fuzzer feeds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::config {

/// "4096", "64K", "64KB", "1MiB"; K, M, G and T are powers of 1024.
std::optional<std::int64_t> parse_size(std::string_view text);
/// "5", "2.5"; at most 1e9.
std::optional<double> parse_seconds(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);
/// Whether `text` is one of "a|b|c".
bool has_choice(std::string_view choices, std::string_view text);

struct Line {
  int number = 0;
  std::string name;
  std::string value;
};
/// Lines NAME=value. '#' starts a comment at the start of a line or after a space. An error names
/// the line's number only, because the line may hold a secret.
Result<std::vector<Line>> parse_lines(std::string_view text);

/// How many letters differ: insertions, deletions, changes.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace sircl::config
