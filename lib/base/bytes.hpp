// Numbers and texts to bytes and back. Little-endian on every machine; the reader trusts nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sircl {

class ByteWriter {
 public:
  template <std::integral T>
  void integer(T value) {
    auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(bits & 0xFFU));
      if constexpr (sizeof(T) > 1) bits >>= 8;
    }
  }
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  /// Length (32 bits), then the bytes.
  void block(std::span<const std::byte> bytes) {
    integer(static_cast<std::uint32_t>(bytes.size()));
    raw(bytes);
  }
  void text(std::string_view text) { block(std::as_bytes(std::span(text))); }
  /// Exactly `size` bytes: the text, cut if need be so that one zero always follows, then zeros.
  void field(std::string_view text, std::size_t size) {
    text = text.substr(0, size - 1);
    raw(std::as_bytes(std::span(text)));
    bytes_.resize(bytes_.size() + size - text.size());
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const& noexcept { return bytes_; }
  [[nodiscard]] std::vector<std::byte> bytes() && noexcept { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote. Past the end every read gives zero or nothing, and ok() stays
/// false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  template <std::integral T>
  [[nodiscard]] T integer() noexcept {
    std::make_unsigned_t<T> bits = 0;
    const auto bytes = raw(sizeof(T));
    for (std::size_t i = bytes.size(); i-- > 0;) {
      if constexpr (sizeof(T) > 1) bits = static_cast<std::make_unsigned_t<T>>(bits << 8);
      bits = static_cast<std::make_unsigned_t<T>>(bits | std::to_integer<unsigned>(bytes[i]));
    }
    return static_cast<T>(bits);
  }
  [[nodiscard]] std::span<const std::byte> raw(std::size_t size) noexcept {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return bytes;
  }
  [[nodiscard]] std::span<const std::byte> block() noexcept {
    return raw(integer<std::uint32_t>());
  }
  [[nodiscard]] std::string text() { return to_text(block()); }
  /// The text before the first zero of a field.
  [[nodiscard]] std::string field(std::size_t size) {
    std::string text = to_text(raw(size));
    text.resize(std::strlen(text.c_str()));
    return text;
  }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  /// Everything was there, and nothing follows.
  [[nodiscard]] bool done() const noexcept { return ok_ && rest_.empty(); }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  static std::string to_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace sircl
