// Predictable inputs of every type whose results are exact, and what a collective must give.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sircl/types.hpp"

namespace sircl::test {

/// Encodes a small integer (-16..16, or 0..16 for unsigned types) in any type. All of these are exact in each.
inline void store(DataType type, std::byte* at, int value) {
  const auto put = [at](auto encoded) { std::memcpy(at, &encoded, sizeof encoded); };
  const auto minifloat = [value](int exponent_bits, int mantissa_bits, int bias) {
    if (value == 0) return std::uint32_t{0};
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent) * 2 - 1;  // [0, 1)
    const auto mantissa = static_cast<std::uint32_t>(std::ldexp(fraction, mantissa_bits));
    const auto biased = static_cast<std::uint32_t>(exponent - 1 + bias);
    const std::uint32_t sign = value < 0 ? 1U << (exponent_bits + mantissa_bits) : 0U;
    return sign | (biased << mantissa_bits) | mantissa;
  };
  switch (type) {
    case DataType::f64: return put(static_cast<double>(value));
    case DataType::f32: return put(static_cast<float>(value));
    case DataType::f16: return put(static_cast<std::uint16_t>(minifloat(5, 10, 15)));
    case DataType::bf16: return put(static_cast<std::uint16_t>(minifloat(8, 7, 127)));
    case DataType::f8e4m3: return put(static_cast<std::uint8_t>(minifloat(4, 3, 7)));
    case DataType::f8e5m2: return put(static_cast<std::uint8_t>(minifloat(5, 2, 15)));
    case DataType::i8: return put(static_cast<std::int8_t>(value));
    case DataType::u8: return put(static_cast<std::uint8_t>(value));
    case DataType::i32: return put(static_cast<std::int32_t>(value));
    case DataType::u32: return put(static_cast<std::uint32_t>(value));
    case DataType::i64: return put(static_cast<std::int64_t>(value));
    case DataType::u64: return put(static_cast<std::uint64_t>(value));
  }
}

/// What rank `rank` contributes at element `index`: so small that every partial result is exact in fp8.
inline int contribution(int rank, std::size_t index, ReduceOp op, int ranks) {
  const auto mixed = static_cast<int>((index * 7 + static_cast<std::size_t>(rank) * 3) % 5);
  switch (op) {
    case ReduceOp::sum:
      // At most one rank of the group is not zero or one per element, sums stay below 8.
      return (static_cast<int>(index) + rank) % ranks == 0 ? 2 : (rank % 4 == static_cast<int>(index % 4) && rank < 8 ? 1 : 0);
    case ReduceOp::average:
      // Equal everywhere would hide a lost rank: rank 0 gives ranks * 1, the others nothing.
      return static_cast<int>(index % static_cast<std::size_t>(ranks)) == rank ? ranks : 0;
    case ReduceOp::product:
      return (static_cast<int>(index % static_cast<std::size_t>(ranks)) == rank) ? 2 : 1;
    case ReduceOp::min:
    case ReduceOp::max:
      return mixed + 1;
  }
  return 0;
}

inline int reduced(std::size_t index, ReduceOp op, int ranks) {
  int result = contribution(0, index, op, ranks);
  for (int rank = 1; rank < ranks; ++rank) {
    const int value = contribution(rank, index, op, ranks);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::average: result += value; break;
      case ReduceOp::product: result *= value; break;
      case ReduceOp::min: result = std::min(result, value); break;
      case ReduceOp::max: result = std::max(result, value); break;
    }
  }
  return op == ReduceOp::average ? result / ranks : result;
}

/// "" or the first element that differs.
inline std::string compare(const std::vector<std::byte>& got, const std::vector<std::byte>& expected,
                           std::size_t element) {
  if (got == expected) return "";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != expected[i]) return "element " + std::to_string(i / element) + " is wrong";
  }
  return "sizes differ";
}

}  // namespace sircl::test
