// Conversions of the small formats, exhaustively, against the definition of rounding to nearest
// even: no other value of the format is nearer, and of two equally near ones the even is taken.
#include <cmath>
#include <random>

#include "reduce_common.hpp"

namespace sircl::reduce {
namespace {

struct Format {
  DataType type;
  int mantissa_bits;
  int bias;
  unsigned nan;       // canonical
  unsigned greatest;  // finite
  unsigned infinity;  // 0: none
  unsigned one;
  bool saturates;
};

constexpr Format kF16 = {DataType::f16, 10, 15, 0x7E00, 0x7BFF, 0x7C00, 0x3C00, false};
constexpr Format kBf16 = {DataType::bf16, 7, 127, 0x7FC0, 0x7F7F, 0x7F80, 0x3F80, false};
constexpr Format kE4m3 = {DataType::f8e4m3, 3, 7, 0x7F, 0x7E, 0, 0x38, true};
constexpr Format kE5m2 = {DataType::f8e5m2, 2, 15, 0x7E, 0x7B, 0x7C, 0x3C, true};

unsigned sign_bit(const Format& format) { return size_of(format.type) == 1 ? 0x80 : 0x8000; }

// The value of a finite pattern; one past the greatest gives what would come next.
double value_of(const Format& format, unsigned bits) {
  const unsigned magnitude = bits & (sign_bit(format) - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const unsigned fraction = magnitude & ((1u << format.mantissa_bits) - 1);
  const double value = exponent == 0 ? std::ldexp(fraction, 1 - format.bias - format.mantissa_bits)
                                     : std::ldexp(fraction + (1u << format.mantissa_bits),
                                                  exponent - format.bias - format.mantissa_bits);
  return (bits & sign_bit(format)) != 0 ? -value : value;
}

bool is_finite(const Format& format, unsigned bits) {
  return (bits & (sign_bit(format) - 1)) <= format.greatest;
}

bool is_nan(const Format& format, unsigned bits) {
  const unsigned magnitude = bits & (sign_bit(format) - 1);
  return magnitude > format.greatest && magnitude != format.infinity;
}

// Whether `result` is the right rounding of `exact`, which is finite.
bool is_rounding_of(const Format& format, unsigned result, double exact) {
  const unsigned magnitude = result & (sign_bit(format) - 1);
  if (((result & sign_bit(format)) != 0) != std::signbit(exact)) return false;
  const double target = std::fabs(exact);
  // Halfway between the greatest value and what would follow it, results leave the format.
  const double limit =
      (value_of(format, format.greatest) + value_of(format, format.greatest + 1)) / 2;
  if (target >= limit) return magnitude == (format.saturates ? format.greatest : format.infinity);
  if (magnitude > format.greatest) return false;
  const double here = std::fabs(value_of(format, magnitude) - target);
  const auto beaten_by = [&](unsigned other) {
    const double there = std::fabs(value_of(format, other) - target);
    return there < here || (there == here && magnitude % 2 != 0);
  };
  if (magnitude > 0 && beaten_by(magnitude - 1)) return false;
  return magnitude == format.greatest || !beaten_by(magnitude + 1);
}

template <class Bits>
void check_round_trip(const Format& format) {
  std::vector<Bits> all;
  for (unsigned bits = 0; bits < 2 * sign_bit(format); ++bits) {
    all.push_back(static_cast<Bits>(bits));
  }
  const std::vector<Bits> minus_zero(all.size(), static_cast<Bits>(sign_bit(format)));
  const std::vector<Bits> one(all.size(), static_cast<Bits>(format.one));
  for (const std::string& target : available_targets()) {
    const ForcedTarget forced(target);
    const auto sums = reduce_arrays<Bits>(format.type, ReduceOp::sum, {all, minus_zero});
    const auto products = reduce_arrays<Bits>(format.type, ReduceOp::product, {one, all});
    const auto least = reduce_arrays<Bits>(format.type, ReduceOp::min, {all, all});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const unsigned expected = is_nan(format, all[i]) ? format.nan : all[i];
      if (sums[i] != expected || products[i] != expected || least[i] != expected) {
        FAIL(target << " " << to_string(format.type) << " pattern " << i);
      }
    }
  }
}

TEST_CASE("every pattern of the small formats survives") {
  check_round_trip<std::uint16_t>(kF16);
  check_round_trip<std::uint16_t>(kBf16);
  check_round_trip<std::uint8_t>(kE4m3);
  check_round_trip<std::uint8_t>(kE5m2);
}

// Sums and products of pairs; both are exact in f32 for fp8, and rounded there first for the
// others.
template <class Bits>
void check_pairs(const Format& format, const std::vector<Bits>& a, const std::vector<Bits>& b) {
  for (const std::string& target : available_targets()) {
    const ForcedTarget forced(target);
    const auto sums = reduce_arrays<Bits>(format.type, ReduceOp::sum, {a, b});
    const auto products = reduce_arrays<Bits>(format.type, ReduceOp::product, {a, b});
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!is_finite(format, a[i]) || !is_finite(format, b[i])) continue;
      const auto x = static_cast<float>(value_of(format, a[i]));
      const auto y = static_cast<float>(value_of(format, b[i]));
      const float sum = x + y;
      const float product = x * y;
      if (std::isfinite(sum) && !is_rounding_of(format, sums[i], sum)) {
        FAIL(target << " " << to_string(format.type) << " " << x << " + " << y);
      }
      if (std::isfinite(product) && !is_rounding_of(format, products[i], product)) {
        FAIL(target << " " << to_string(format.type) << " " << x << " * " << y);
      }
    }
  }
}

TEST_CASE("every pair of fp8 values is rounded to the nearest") {
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
  for (unsigned i = 0; i < 65536; ++i) {
    a.push_back(static_cast<std::uint8_t>(i >> 8));
    b.push_back(static_cast<std::uint8_t>(i));
  }
  check_pairs(kE4m3, a, b);
  check_pairs(kE5m2, a, b);
}

TEST_CASE("pairs of 16-bit values are rounded to the nearest") {
  std::mt19937 random(16);
  for (const Format& format : {kF16, kBf16}) {
    std::vector<std::uint16_t> a;
    std::vector<std::uint16_t> b;
    for (unsigned i = 0; i < 65536; ++i) {
      a.push_back(static_cast<std::uint16_t>(i));
      // Close enough in exponent for the lower digits to matter.
      const unsigned distance = random() % (12u << format.mantissa_bits);
      b.push_back(static_cast<std::uint16_t>(
          i % 2 == 0 ? random()
                     : std::max(0, static_cast<int>(i % 0x8000) - static_cast<int>(distance)) |
                           static_cast<int>(random() & 0x8000)));
    }
    check_pairs(format, a, b);
  }
}

}  // namespace
}  // namespace sircl::reduce
