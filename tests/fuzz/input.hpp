// Reads a fuzzer's input as a row of numbers and byte strings; past its end all is zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace sircl::fuzz {

inline void require(bool good) {
  if (!good) std::abort();
}

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : bytes_(std::as_bytes(std::span(data, size))) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  template <typename Number>
  Number number() {
    Number value = 0;
    const auto part = take(sizeof value);
    if (!part.empty()) std::memcpy(&value, part.data(), part.size());
    return value;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  /// Mostly small and near `likely`, sometimes anything.
  std::uint64_t near(std::uint64_t likely) {
    switch (byte() % 8) {
      case 0:
        return number<std::uint64_t>();
      case 1:
        return number<std::uint16_t>();
      case 2:
        return likely + 1;
      case 3:
        return likely - 1;
      default:
        return likely;
    }
  }
  /// `count` bytes at most.
  std::span<const std::byte> take(std::size_t count) {
    const auto part = bytes_.first(std::min(count, bytes_.size()));
    bytes_ = bytes_.subspan(part.size());
    return part;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace sircl::fuzz
