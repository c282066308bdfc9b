// One message at a time on stderr or in a file. The log itself never reads the environment.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

namespace sircl::log {

enum class Level : int { none = 0, warn = 1, info = 2, trace = 3 };

extern std::atomic<int> current_level;

void set_level(Level level);
/// "none", "warn", "info" or "trace", as SIRCL_DEBUG has it.
std::optional<Level> parse_level(std::string_view text);
/// Stands before every message; "sircl" at first.
void set_prefix(std::string prefix);
/// "sircl [rank 2]" from now on.
void set_rank(int rank);
/// Appends to this file from now on; false if it cannot be opened.
bool set_file(const std::string& path);
void write(Level level, std::string_view text);

inline bool enabled(Level level) {
  return current_level.load(std::memory_order_relaxed) >= static_cast<int>(level);
}
inline void warn(std::string_view text) {
  if (enabled(Level::warn)) write(Level::warn, text);
}
inline void info(std::string_view text) {
  if (enabled(Level::info)) write(Level::info, text);
}
inline void trace(std::string_view text) {
  if (enabled(Level::trace)) write(Level::trace, text);
}

}  // namespace sircl::log
