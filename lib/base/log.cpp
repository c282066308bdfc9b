#include "base/log.hpp"

#include <cstdio>
#include <mutex>

namespace sircl::log {

std::atomic<int> current_level{static_cast<int>(Level::warn)};

namespace {
std::mutex mutex;
std::string prefix_text = "sircl";
std::FILE* file = nullptr;
}  // namespace

void set_level(Level level) { current_level.store(static_cast<int>(level)); }

void set_prefix(std::string prefix) {
  const std::lock_guard lock(mutex);
  prefix_text = std::move(prefix);
}

bool set_file(const std::string& path) {
  const std::lock_guard lock(mutex);
  std::FILE* opened = std::fopen(path.c_str(), "ae");
  if (opened == nullptr) return false;
  if (file != nullptr) std::fclose(file);
  file = opened;
  return true;
}

void write(Level level, std::string_view text) {
  static constexpr const char* kNames[] = {"", "WARN", "INFO", "TRACE"};
  const std::lock_guard lock(mutex);
  std::FILE* to = file != nullptr ? file : stderr;
  std::fprintf(to, "%s %s %.*s\n", prefix_text.c_str(), kNames[static_cast<int>(level)],
               static_cast<int>(text.size()), text.data());
  std::fflush(to);
}

}  // namespace sircl::log
