#include "comm/pin.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace sircl::detail {
namespace {

std::atomic<bool> pinned{false};

std::optional<int> processor_number(std::string_view text) {
  int value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < 0 || value >= CPU_SETSIZE) return std::nullopt;
  return value;
}

}  // namespace

std::string processor_list(std::span<const int> processors) {
  std::string text;
  for (std::size_t i = 0; i < processors.size();) {
    std::size_t end = i + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", processors[i]);
    if (end > i + 1) text += fmt::format("-{}", processors[end - 1]);
    i = end;
  }
  return text;
}

Result<std::vector<int>> parse_processor_list(std::string_view text) {
  std::vector<int> processors;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view entry = text.substr(0, comma);
    const std::size_t dash = entry.find('-');
    const auto first = processor_number(entry.substr(0, std::min(dash, entry.size())));
    const auto last =
        dash == std::string_view::npos ? first : processor_number(entry.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return {StatusCode::invalid_setting,
              fmt::format("'{}' is not a processor from 0 to {}, or a range such as 4-7", entry,
                          CPU_SETSIZE - 1)};
    }
    for (int processor = *first; processor <= *last; ++processor) {
      if (std::find(processors.begin(), processors.end(), processor) != processors.end()) {
        return {StatusCode::invalid_setting, fmt::format("processor {} stands twice", processor)};
      }
      processors.push_back(processor);
    }
    if (comma == text.size()) return processors;
    text.remove_prefix(comma + 1);
  }
}

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &set)) processors.push_back(processor);
  }
  return processors;
}

Result<std::vector<int>> parse_pin(std::string_view text, std::span<const int> allowed) {
  if (text.empty() || text == "none") return std::vector<int>();
  if (text == "auto") return std::vector<int>(allowed.begin(), allowed.end());
  auto processors = parse_processor_list(text);
  if (!processors) {
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_PIN={}: {}; give none, auto or a list such as 0,2,4-7", text,
                        processors.status().message())};
  }
  for (const int processor : *processors) {
    if (std::find(allowed.begin(), allowed.end(), processor) != allowed.end()) continue;
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_PIN={}: processor {} is not one of those that this process may run "
                        "on ({})",
                        text, processor, processor_list(allowed))};
  }
  return processors;
}

int pin_choice(std::span<const int> processors, int local_index) {
  return processors[static_cast<std::size_t>(local_index) % processors.size()];
}

Status pin_to(int processor) {
  if (pinned.exchange(true)) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return {};
  const int error = errno;
  return {StatusCode::resource, fmt::format("SIRCL_PIN: cannot bind this rank to processor {} ({})",
                                            processor, std::strerror(error))};
}

bool is_pinned() noexcept { return pinned.load(); }

}  // namespace sircl::detail
