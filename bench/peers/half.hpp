// Conversions of 16-bit floats for the peers, which bring none of their own. Simple enough for the
// compiler to vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace sircl::bench {

inline float widen_bf16(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

/// Rounds to nearest even; not for NaN.
inline std::uint16_t narrow_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

inline float widen_f16(std::uint16_t value) {
  // Moves exponent and mantissa into place and corrects the bias by a multiplication, which also
  // takes care of denormals; infinities and NaN are not needed here.
  const auto magnitude = std::bit_cast<float>(static_cast<std::uint32_t>(value & 0x7FFFU) << 13);
  const float scaled = magnitude * std::bit_cast<float>(0x77800000U);  // 2^112
  const auto sign = static_cast<std::uint32_t>(value & 0x8000U) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
}

/// Rounds to nearest even within the normal range and below; not for overflow or NaN.
inline std::uint16_t narrow_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const float magnitude = std::bit_cast<float>(bits & 0x7FFFFFFFU);
  const auto scaled =
      std::bit_cast<std::uint32_t>(magnitude * std::bit_cast<float>(0x07800000U));  // 2^-112
  const auto rounded = (scaled + 0xFFFU + ((scaled >> 13) & 1U)) >> 13;
  return static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000U));
}

}  // namespace sircl::bench
