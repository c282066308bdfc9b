// The memory that a peer's lanes put into, where puts arrive as messages and are stored by this
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/lane.hpp"

namespace sircl::transport {

/// Used by one thread at a time, as the lanes that share it.
class Window {
 public:
  explicit Window(std::size_t bytes) : bytes_(bytes) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

  /// Whether a put with this flag brings anything that has not come by another lane.
  [[nodiscard]] bool is_news(std::uint64_t flag_offset, std::uint64_t flag_value) noexcept {
    return flag_at(data(), flag_offset).load(std::memory_order_relaxed) < flag_value;
  }
  /// The bytes are all there: others may see the flag now.
  void raise(std::uint64_t flag_offset, std::uint64_t flag_value) noexcept {
    flag_at(data(), flag_offset).store(flag_value, std::memory_order_release);
  }
  /// Where the byte at `offset` is stored, and how many after it in the same memory.
  [[nodiscard]] std::span<std::byte> place(std::uint64_t offset) noexcept;
  /// Stores a whole put, unless it is no news.
  void store(std::uint64_t offset, std::span<const std::byte> bytes, std::uint64_t flag_offset,
             std::uint64_t flag_value) noexcept;

  /// See Lane::redirect.
  bool redirect(std::uint64_t offset, std::span<std::byte> to) noexcept;

  /// The part of a put that has come by one lane so far.
  struct Arrival {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool open = false;  ///< amid a put
  };
  /// A lane makes its own known as long as it lives.
  void add(const Arrival* arrival) { arrivals_.push_back(arrival); }
  void remove(const Arrival* arrival) noexcept { std::erase(arrivals_, arrival); }

 private:
  std::vector<std::byte> bytes_;
  std::vector<const Arrival*> arrivals_;
  std::uint64_t redirected_ = 0;        ///< first offset that is stored elsewhere
  std::span<std::byte> redirected_to_;  ///< and where; empty: nowhere
};

/// Whether a put that a peer speaks of lies within a window.
[[nodiscard]] constexpr bool fits(std::uint64_t offset, std::uint64_t bytes,
                                  std::uint64_t flag_offset, std::uint64_t window_bytes) noexcept {
  return bytes <= window_bytes && offset <= window_bytes - bytes && flag_offset % 8 == 0 &&
         window_bytes >= 8 && flag_offset <= window_bytes - 8;
}

}  // namespace sircl::transport
