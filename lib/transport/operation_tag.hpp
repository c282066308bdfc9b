// What an operation is, in a form that ranks compare: the first difference is reported on all.
#pragma once

#include <cstdint>
#include <string>

namespace sircl::transport {

/// 32 bytes, plain old data: travels in slot headers and stands on boards.
struct OperationTag {
  std::uint64_t sequence = 0;  ///< number of the collective on its communicator, from 1
  std::uint64_t count = 0;     ///< elements, as the user gave them; the sum for unequal counts
  std::uint64_t counts_hash = 0;
  std::int32_t root = 0;
  std::uint8_t kind = 0;
  std::uint8_t type = 0;
  std::uint8_t op = 0;
  std::uint8_t algorithm = 0;

  /// 64 bits that differ, for all practical purposes, when anything differs.
  [[nodiscard]] std::uint64_t signature() const noexcept {
    std::uint64_t h = sequence * 0x9E3779B97F4A7C15ull;
    const auto mix = [&h](std::uint64_t value) {
      h ^= value;
      h *= 0xFF51AFD7ED558CCDull;
      h ^= h >> 32;
    };
    mix(count);
    mix(counts_hash);
    mix((static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32) |
        (static_cast<std::uint64_t>(kind) << 24) | (static_cast<std::uint64_t>(type) << 16) |
        (static_cast<std::uint64_t>(op) << 8) | algorithm);
    return h;
  }
};
static_assert(sizeof(OperationTag) == 32);

}  // namespace sircl::transport
