#include "values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace sircl::bench {
namespace {

struct Traits {
  double limit;  ///< every integer up to it is exact
  bool negative;
  bool fraction;
};

Traits traits(DataType type) {
  switch (type) {
    case DataType::f64:
      return {4503599627370496.0, true, true};
    case DataType::f32:
      return {16777216.0, true, true};
    case DataType::f16:
      return {2048.0, true, true};
    case DataType::bf16:
      return {256.0, true, true};
    case DataType::f8e4m3:
      return {16.0, true, true};
    case DataType::f8e5m2:
      return {8.0, true, true};
    case DataType::i8:
      return {127.0, true, false};
    case DataType::u8:
      return {255.0, false, false};
    case DataType::i32:
      return {2147483647.0, true, false};
    case DataType::u32:
      return {4294967295.0, false, false};
    case DataType::i64:
      return {4503599627370496.0, true, false};
    case DataType::u64:
      return {4503599627370496.0, false, false};
  }
  return {1, false, false};
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL + b * 0xD1B54A32D192ED03ULL + 0x632BE59BD9B4E019ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  x ^= x >> 29;
  return x;
}

/// An integer in [-bound, bound], or [0, bound].
double pick(std::uint64_t random, double bound, bool negative) {
  const auto span = static_cast<std::uint64_t>(bound);
  if (!negative) return static_cast<double>(random % (span + 1));
  return static_cast<double>(random % (2 * span + 1)) - static_cast<double>(span);
}

/// +-1, with a power of two on at most three ranks, so that products stay far from the limits.
double factor(const Traits& type, int rank, int ranks, std::size_t index) {
  const auto turn =
      static_cast<int>((static_cast<std::size_t>(rank) + index) % static_cast<std::size_t>(ranks));
  double value = turn < 2 ? 2.0 : 1.0;
  if (turn == 2 && type.fraction) value = 0.5;
  const bool minus = type.negative && (mix(static_cast<std::uint64_t>(rank) + 77, index) & 1) != 0;
  return minus ? -value : value;
}

/// Sums of at most `limit`: everybody adds up to limit / ranks; with more ranks than that, some
/// add one and the others zero.
double addend(const Traits& type, int rank, int ranks, std::size_t index) {
  const double bound = std::floor(type.limit / ranks);
  const std::uint64_t random = mix(static_cast<std::uint64_t>(rank), index);
  if (bound >= 1) return pick(random, bound, type.negative);
  const auto turn = static_cast<double>((static_cast<std::size_t>(rank) + index) %
                                        static_cast<std::size_t>(ranks));
  if (turn >= type.limit) return 0;
  return type.negative && (random & 1) != 0 ? -1 : 1;
}

/// A value common to all ranks plus differences that cancel between ranks 2k and 2k+1, so that the
/// average is a whole number.
double averaged(const Traits& type, int rank, int ranks, std::size_t index) {
  const double bound = std::floor(type.limit / ranks);
  if (bound < 1) return 0;
  const double common = pick(mix(999983, index), std::ceil(bound / 2), type.negative);
  const double room = std::floor(bound / 2);
  const bool paired = (rank ^ 1) < ranks;
  if (!paired || room < 1) return common;
  const double difference = pick(mix(static_cast<std::uint64_t>(rank / 2) + 31, index), room, true);
  return (rank & 1) != 0 ? common - difference : common + difference;
}

/// IEEE-like small formats: sign, exponent with bias, mantissa. Only for normal values and zero.
std::uint32_t small_float(double value, int exponent_bits, int mantissa_bits) {
  const std::uint32_t sign =
      std::signbit(value) ? 1U << static_cast<unsigned>(exponent_bits + mantissa_bits) : 0U;
  if (value == 0) return sign;
  int exponent = 0;
  const double half_to_one = std::frexp(std::fabs(value), &exponent);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto mantissa =
      static_cast<std::uint32_t>((half_to_one * 2 - 1) * static_cast<double>(1 << mantissa_bits));
  return sign | static_cast<std::uint32_t>(exponent - 1 + bias) << mantissa_bits | mantissa;
}

template <typename T>
void store(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
}

}  // namespace

double input_value(DataType type, ReduceOp op, int rank, int ranks, std::size_t index) {
  const Traits of = traits(type);
  switch (op) {
    case ReduceOp::sum:
      return addend(of, rank, ranks, index);
    case ReduceOp::product:
      return factor(of, rank, ranks, index);
    case ReduceOp::min:
    case ReduceOp::max:
      return pick(mix(static_cast<std::uint64_t>(rank), index), of.limit, of.negative);
    case ReduceOp::average:
      return of.fraction ? averaged(of, rank, ranks, index) : addend(of, rank, ranks, index);
  }
  return 0;
}

double combine(ReduceOp op, double left, double right) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return left + right;
    case ReduceOp::product:
      return left * right;
    case ReduceOp::min:
      return std::min(left, right);
    case ReduceOp::max:
      return std::max(left, right);
  }
  return 0;
}

double finish(DataType type, ReduceOp op, double combined, int ranks) {
  // -0 cannot come out of sums, minima or maxima of whole numbers that are never -0.
  if (combined == 0) combined = 0;
  if (op != ReduceOp::average) return combined;
  const double mean = combined / ranks;
  return traits(type).fraction ? mean : std::trunc(mean) + 0.0;
}

void encode(DataType type, double value, std::byte* element) {
  switch (type) {
    case DataType::f64:
      return store(value, element);
    case DataType::f32:
      return store(static_cast<float>(value), element);
    case DataType::f16:
      return store(static_cast<std::uint16_t>(small_float(value, 5, 10)), element);
    case DataType::bf16:
      return store(static_cast<std::uint16_t>(small_float(value, 8, 7)), element);
    case DataType::f8e4m3:
      return store(static_cast<std::uint8_t>(small_float(value, 4, 3)), element);
    case DataType::f8e5m2:
      return store(static_cast<std::uint8_t>(small_float(value, 5, 2)), element);
    case DataType::i8:
      return store(static_cast<std::int8_t>(value), element);
    case DataType::u8:
      return store(static_cast<std::uint8_t>(value), element);
    case DataType::i32:
      return store(static_cast<std::int32_t>(value), element);
    case DataType::u32:
      return store(static_cast<std::uint32_t>(value), element);
    case DataType::i64:
      return store(static_cast<std::int64_t>(value), element);
    case DataType::u64:
      return store(static_cast<std::uint64_t>(value), element);
  }
}

}  // namespace sircl::bench
