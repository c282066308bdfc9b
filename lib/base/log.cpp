#include "base/log.hpp"

#include <cstdio>
#include <mutex>

namespace sircl::log {

std::atomic<int> current_level{static_cast<int>(Level::warn)};

namespace {

struct Sink {
  std::mutex mutex;
  std::string prefix = "sircl";
  std::FILE* file = nullptr;
};

/// Never destroyed: threads may still log while the process ends.
Sink& sink() {
  static Sink& only = *new Sink;
  return only;
}

const char* name_of(Level level) {
  switch (level) {
    case Level::none:
      return "";
    case Level::warn:
      return "WARN";
    case Level::info:
      return "INFO";
    case Level::trace:
      return "TRACE";
  }
  return "";
}

}  // namespace

void set_level(Level level) { current_level.store(static_cast<int>(level)); }

std::optional<Level> parse_level(std::string_view text) {
  if (text == "none") return Level::none;
  if (text == "warn") return Level::warn;
  if (text == "info") return Level::info;
  if (text == "trace") return Level::trace;
  return std::nullopt;
}

void set_prefix(std::string prefix) {
  const std::lock_guard lock(sink().mutex);
  sink().prefix = std::move(prefix);
}

void set_rank(int rank) { set_prefix("sircl [rank " + std::to_string(rank) + "]"); }

bool set_file(const std::string& path) {
  const std::lock_guard lock(sink().mutex);
  std::FILE* opened = std::fopen(path.c_str(), "ae");
  if (opened == nullptr) return false;
  if (sink().file != nullptr) std::fclose(sink().file);
  sink().file = opened;
  return true;
}

void write(Level level, std::string_view text) {
  // One call to the C library for the whole message, so that ranks that share a terminal or a file
  // do not mix within a line.
  const std::lock_guard lock(sink().mutex);
  std::string whole = sink().prefix + ' ' + name_of(level) + ' ';
  whole += text;
  whole += '\n';
  std::FILE* to = sink().file != nullptr ? sink().file : stderr;
  std::fwrite(whole.data(), 1, whole.size(), to);
  std::fflush(to);
}

}  // namespace sircl::log
