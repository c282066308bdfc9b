// Known results of every type, on every target.
#include <bit>
#include <limits>

#include "reduce_common.hpp"

namespace sircl::reduce {
namespace {

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

U32 f32(float value) { return std::bit_cast<U32>(value); }
U64 f64(double value) { return std::bit_cast<U64>(value); }

constexpr U32 kNan32 = 0x7FC00000;
constexpr U64 kNan64 = 0x7FF8000000000000;

TEST_CASE("f32 and f64 add from left to right in their own type") {
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {f32(1e8F), f32(1), f32(-1e8F)}) == f32(0));
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {f32(1e8F), f32(-1e8F), f32(1)}) == f32(1));
  CHECK(reduce_values(DataType::f32, ReduceOp::sum,
                      {f32(16777216), f32(1), f32(1), f32(1), f32(1)}) == f32(16777216));
  CHECK(reduce_values(DataType::f64, ReduceOp::sum, {f64(1e17), f64(1), f64(-1e17)}) == f64(0));
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {U32{1}, U32{1}}) == 2);  // denormals
  CHECK(reduce_values(DataType::f64, ReduceOp::sum, {U64{1}, U64{1}}) == 2);
  CHECK(reduce_values(DataType::f32, ReduceOp::product, {f32(1.5F), f32(-2), f32(4)}) == f32(-12));
  CHECK(reduce_values(DataType::f64, ReduceOp::product, {f64(0.5), f64(0.25)}) == f64(0.125));
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {f32(-0.0F), f32(-0.0F)}) == 0x80000000);
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {f32(-0.0F), f32(0)}) == 0);
}

TEST_CASE("every NaN result is the canonical one") {
  const U32 inf = 0x7F800000;
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {inf, inf | 0x80000000}) == kNan32);
  CHECK(reduce_values(DataType::f32, ReduceOp::product, {inf, U32{0}}) == kNan32);
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {U32{0xFFFFFFFF}, f32(1)}) == kNan32);
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {f32(1), U32{0x7F800001}}) == kNan32);
  CHECK(reduce_values(DataType::f64, ReduceOp::sum, {f64(1), U64{0xFFF0000000000001}}) == kNan64);
  for (const ReduceOp op : kAllOps) {
    CHECK(reduce_values(DataType::f32, op, {f32(1), U32{0xFF800001}, f32(2)}) == kNan32);
    CHECK(reduce_values(DataType::f64, op, {f64(1), U64{0xFFF8000000000001}}) == kNan64);
    CHECK(reduce_values(DataType::f16, op, {U16{0x3C00}, U16{0xFC01}}) == 0x7E00);
    CHECK(reduce_values(DataType::bf16, op, {U16{0xFFFF}, U16{0x3F80}}) == 0x7FC0);
    CHECK(reduce_values(DataType::f8e4m3, op, {U8{0xFF}, U8{0x38}}) == 0x7F);
    CHECK(reduce_values(DataType::f8e5m2, op, {U8{0x38}, U8{0xFD}}) == 0x7E);
  }
}

TEST_CASE("one input is a copy, NaN payloads included") {
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {U32{0xFF812345}}) == 0xFF812345);
  CHECK(reduce_values(DataType::f16, ReduceOp::max, {U16{0xFC01}}) == 0xFC01);
  CHECK(reduce_values(DataType::f32, ReduceOp::sum, {f32(3)}, 2) == f32(1.5F));
}

TEST_CASE("minimum and maximum order -0 below +0") {
  CHECK(reduce_values(DataType::f32, ReduceOp::min, {f32(0), f32(-0.0F)}) == f32(-0.0F));
  CHECK(reduce_values(DataType::f32, ReduceOp::max, {f32(-0.0F), f32(0)}) == f32(0));
  CHECK(reduce_values(DataType::f64, ReduceOp::min, {f64(0), f64(-0.0)}) == f64(-0.0));
  CHECK(reduce_values(DataType::f64, ReduceOp::max, {f64(0), f64(-0.0)}) == f64(0));
  CHECK(reduce_values(DataType::bf16, ReduceOp::min, {U16{0}, U16{0x8000}}) == 0x8000);
  CHECK(reduce_values(DataType::f8e4m3, ReduceOp::max, {U8{0x80}, U8{0}}) == 0);
  CHECK(reduce_values(DataType::f32, ReduceOp::min, {f32(-2), f32(-3), f32(5)}) == f32(-3));
  CHECK(reduce_values(DataType::f32, ReduceOp::max, {f32(-2), f32(-3), f32(-5)}) == f32(-2));
  CHECK(reduce_values(DataType::f32, ReduceOp::min, {U32{0xFF800000}, f32(1)}) == 0xFF800000);
}

TEST_CASE("f16 rounds to nearest even and overflows to infinity") {
  const U16 one = 0x3C00;
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {one, U16{0x1000}}) == one);  // tie, down
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {U16{0x3C01}, U16{0x1000}}) == 0x3C02);
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {U16{0x7BFF}, U16{0x4C00}}) == 0x7C00);
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {U16{0x7BFF}, U16{0x4BFF}}) == 0x7BFF);
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {U16{0x0001}, U16{0x03FF}}) == 0x0400);
  CHECK(reduce_values(DataType::f16, ReduceOp::product, {U16{0x0001}, U16{0x3800}}) == 0);
  CHECK(reduce_values(DataType::f16, ReduceOp::product, {U16{0x8003}, U16{0x3800}}) == 0x8002);
  // Rounded once: three small terms count that would vanish one by one.
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {one, U16{0x1000}, U16{0x1000}}) == 0x3C01);
  // Beyond the greatest f16 on the way, but not at the end.
  CHECK(reduce_values(DataType::f16, ReduceOp::sum, {U16{0x7BFF}, U16{0x7BFF}, U16{0xFBFF}}) ==
        0x7BFF);
}

TEST_CASE("bf16 rounds once, to nearest even") {
  const U16 k256 = 0x4380;
  const U16 k1 = 0x3F80;
  CHECK(reduce_values(DataType::bf16, ReduceOp::sum, {k256, k1}) == k256);
  CHECK(reduce_values(DataType::bf16, ReduceOp::sum, {U16{0x4381}, k1}) == 0x4382);
  CHECK(reduce_values(DataType::bf16, ReduceOp::sum, {k256, k1, k1}) == 0x4381);
  CHECK(reduce_values(DataType::bf16, ReduceOp::sum, {k256, k1, k1, k1}) == 0x4382);
  CHECK(reduce_values(DataType::bf16, ReduceOp::sum, {U16{0x7F7F}, U16{0x7F7F}}) == 0x7F80);
  CHECK(reduce_values(DataType::bf16, ReduceOp::sum, {U16{0x0001}, U16{0x0001}}) == 0x0002);
}

TEST_CASE("fp8 saturates, and infinities stay where the type has them") {
  CHECK(reduce_values(DataType::f8e4m3, ReduceOp::sum, {U8{0x7E}, U8{0x7E}}) == 0x7E);
  CHECK(reduce_values(DataType::f8e4m3, ReduceOp::sum, {U8{0xFE}, U8{0xFE}}) == 0xFE);
  CHECK(reduce_values(DataType::f8e4m3, ReduceOp::sum, {U8{0x7E}, U8{0x7E}}, 2) == 0x7E);
  CHECK(reduce_values(DataType::f8e4m3, ReduceOp::sum, {U8{0x01}, U8{0x01}}) == 0x02);
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::sum, {U8{0x7B}, U8{0x7B}}) == 0x7B);
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::sum, {U8{0x7C}, U8{0x3C}}) == 0x7C);
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::sum, {U8{0xFC}, U8{0x3C}}) == 0xFC);
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::sum, {U8{0x7C}, U8{0xFC}}) == 0x7E);
  // Factors whose product leaves even f32: still finite, so saturated, and zero times it is zero.
  const U8 big = 0x7B;
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::product,
                      {big, big, big, big, big, big, big, big, big, big}) == big);
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::product,
                      {big, big, big, big, big, big, big, big, big, U8{0xFB}, U8{0}}) == 0x80);
  CHECK(reduce_values(DataType::f8e5m2, ReduceOp::product, {U8{0x7C}, big, U8{0xFB}}) == 0xFC);
}

TEST_CASE("integers wrap, and averages truncate towards zero") {
  const auto sum = ReduceOp::sum;
  CHECK(reduce_values<std::int8_t>(DataType::i8, sum, {100, 100}) == -56);
  CHECK(reduce_values<std::int8_t>(DataType::i8, sum, {100, 100}, 2) == -28);
  CHECK(reduce_values<U8>(DataType::u8, sum, {200, 100}) == 44);
  CHECK(reduce_values<U8>(DataType::u8, ReduceOp::product, {17, 31, 3}) == U8(17 * 31 * 3));
  CHECK(reduce_values<std::int8_t>(DataType::i8, ReduceOp::product, {-7, 5}) == -35);
  CHECK(reduce_values<std::int32_t>(DataType::i32, sum, {-3, -4}, 2) == -3);
  CHECK(reduce_values<std::int32_t>(DataType::i32, sum, {3, 4}, 2) == 3);
  CHECK(reduce_values<std::int32_t>(DataType::i32, sum, {5, 4}, 4000000000U) == 0);
  CHECK(reduce_values<U32>(DataType::u32, sum, {0xFFFFFFFF, 0}, 2) == 0x7FFFFFFF);
  const auto least = std::numeric_limits<std::int64_t>::min();
  CHECK(reduce_values<std::int64_t>(DataType::i64, sum, {least + 1, 0}, 2) == least / 2 + 1);
  CHECK(reduce_values<std::int64_t>(DataType::i64, sum, {least, 3}, 3) == (least + 3) / 3);
  CHECK(reduce_values<U64>(DataType::u64, sum, {~U64{0}, 0}, 10) == ~U64{0} / 10);
  CHECK(reduce_values<U64>(DataType::u64, ReduceOp::product, {U64{1} << 33, U64{1} << 32}) == 0);
  CHECK(reduce_values<std::int64_t>(DataType::i64, ReduceOp::product, {-5000000000, 7}) ==
        -35000000000);
  CHECK(reduce_values<U32>(DataType::u32, ReduceOp::max, {1, 0x80000000}) == 0x80000000);
  CHECK(reduce_values<std::int32_t>(DataType::i32, ReduceOp::max, {1, -5}) == 1);
  CHECK(reduce_values<U64>(DataType::u64, ReduceOp::min, {1, U64{1} << 63}) == 1);
  CHECK(reduce_values<std::int64_t>(DataType::i64, ReduceOp::min, {1, least}) == least);
  CHECK(reduce_values<U8>(DataType::u8, ReduceOp::min, {1, 0x80}) == 1);
  CHECK(reduce_values<std::int8_t>(DataType::i8, ReduceOp::min, {1, -128}) == -128);
}

TEST_CASE("averages divide before the only rounding") {
  CHECK(reduce_values(DataType::f32, ReduceOp::average, {f32(1), f32(2)}, 2) == f32(1.5F));
  CHECK(reduce_values(DataType::f64, ReduceOp::average, {f64(1), f64(0), f64(0)}, 3) ==
        f64(1.0 / 3));
  // 257 / 2: the sum is no bf16 (256 or 258), the half of it is none either: 128.5 rounds to 128.
  CHECK(reduce_values<U16>(DataType::bf16, ReduceOp::average, {0x4380, 0x3F80}, 2) == 0x4300);
  // (256 + 1 + 1 + 1) / 4 = 64.75: a rounding of the sum would give 65.
  CHECK(reduce_values<U16>(DataType::bf16, ReduceOp::average, {0x4380, 0x3F80, 0x3F80, 0x3F80},
                           4) == 0x4282);
  CHECK(reduce_values<U16>(DataType::f16, ReduceOp::average, {0x7BFF, 0x7BFF}, 2) == 0x7BFF);
}

TEST_CASE("no elements and no inputs touch nothing") {
  for (const std::string& target : available_targets()) {
    const ForcedTarget forced(target);
    for (const DataType type : kAllTypes) {
      U64 out = 0x1234;
      const U64 in = 7;
      const void* inputs[] = {&in, &in};
      kernel(type, ReduceOp::sum)(inputs, 2, &out, 0, 1);
      kernel(type, ReduceOp::sum)(inputs, 0, &out, 1, 1);
      CHECK(out == 0x1234);
    }
  }
}

}  // namespace
}  // namespace sircl::reduce
