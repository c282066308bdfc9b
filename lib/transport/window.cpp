#include "transport/window.hpp"

#include <algorithm>
#include <cstring>

namespace sircl::transport {

std::span<std::byte> Window::place(std::uint64_t offset) noexcept {
  const std::span<std::byte> window(bytes_);
  if (redirected_to_.empty() || offset >= redirected_ + redirected_to_.size()) {
    return window.subspan(offset);
  }
  if (offset < redirected_) return window.subspan(offset, redirected_ - offset);
  return redirected_to_.subspan(offset - redirected_);
}

void Window::store(std::uint64_t offset, std::span<const std::byte> bytes,
                   std::uint64_t flag_offset, std::uint64_t flag_value) noexcept {
  if (!is_news(flag_offset, flag_value)) return;
  while (!bytes.empty()) {
    const auto free = place(offset);
    const std::size_t part = std::min(free.size(), bytes.size());
    std::memcpy(free.data(), bytes.data(), part);
    offset += part;
    bytes = bytes.subspan(part);
  }
  raise(flag_offset, flag_value);
}

bool Window::redirect(std::uint64_t offset, std::span<std::byte> to) noexcept {
  if (!to.empty()) {
    // A put that has begun to arrive stays where it is.
    for (const Arrival* arrival : arrivals_) {
      if (arrival->open && arrival->offset < offset + to.size() &&
          arrival->offset + arrival->bytes > offset) {
        return false;
      }
    }
  } else if (!redirected_to_.empty()) {
    for (const Arrival* arrival : arrivals_) {
      const std::uint64_t received_to = arrival->offset + arrival->bytes;
      if (!arrival->open || received_to <= redirected_ ||
          arrival->offset >= redirected_ + redirected_to_.size()) {
        continue;
      }
      std::memcpy(bytes_.data() + redirected_, redirected_to_.data(),
                  std::min<std::size_t>(redirected_to_.size(), received_to - redirected_));
    }
  }
  redirected_ = offset;
  redirected_to_ = to;
  return true;
}

}  // namespace sircl::transport
