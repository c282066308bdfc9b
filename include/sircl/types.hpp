// Element types and reduction operations of the collectives, with their numeric rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sircl/export.h"

namespace sircl {

/// Element type of a buffer. The numeric values are part of the wire format and of the C ABI.
enum class DataType : std::uint8_t {
  f64 = 0,
  f32 = 1,
  f16 = 2,     ///< IEEE 754 binary16
  bf16 = 3,    ///< bfloat16: the upper half of an f32
  f8e4m3 = 4,  ///< OCP FP8 E4M3: no infinity, one NaN pattern per sign, largest finite value 448
  f8e5m2 = 5,  ///< OCP FP8 E5M2: infinities and NaN as IEEE 754, largest finite value 57,344
  i8 = 6,
  u8 = 7,
  i32 = 8,
  u32 = 9,
  i64 = 10,
  u64 = 11,
};
inline constexpr int kDataTypeCount = 12;

/// Reduction operation.
///
/// sum, product: integers wrap modulo 2^bits. 16- and 8-bit floats are accumulated in f32 and
///   rounded to nearest even when a value is stored or sent; see the README for how often each
///   algorithm rounds. fp8 results beyond the largest finite value saturate to it; an infinity that
///   was an input stays one where the type has it.
/// min, max: IEEE 754-2019 minimum/maximum: a NaN in any contribution gives NaN, and -0 < +0.
/// average: the sum divided by the number of ranks, before the last rounding; integers truncate
///   towards zero after the wrapped sum.
/// NaN results are quiet; payloads are not kept. Denormals are kept. All ranks get the same bits.
enum class ReduceOp : std::uint8_t { sum = 0, product = 1, min = 2, max = 3, average = 4 };
inline constexpr int kReduceOpCount = 5;

/// Size of one element in bytes: 1, 2, 4 or 8.
[[nodiscard]] constexpr std::size_t size_of(DataType type) noexcept {
  switch (type) {
    case DataType::f64:
    case DataType::i64:
    case DataType::u64:
      return 8;
    case DataType::f32:
    case DataType::i32:
    case DataType::u32:
      return 4;
    case DataType::f16:
    case DataType::bf16:
      return 2;
    case DataType::f8e4m3:
    case DataType::f8e5m2:
    case DataType::i8:
    case DataType::u8:
      return 1;
  }
  return 0;
}

/// "f32", "bf16", "f8e4m3", ...; "invalid" for a value outside the enumeration.
[[nodiscard]] SIRCL_API std::string_view to_string(DataType type) noexcept;
/// "sum", "product", "min", "max", "average"; "invalid" for a value outside the enumeration.
[[nodiscard]] SIRCL_API std::string_view to_string(ReduceOp op) noexcept;
/// The type named `name` (as printed by to_string; "float", "half", "bfloat16", "double" and the
/// nccl-tests names "int8" ... "uint64", "f8e4m3", "f8e5m2" are understood too), else nothing.
[[nodiscard]] SIRCL_API std::optional<DataType> parse_data_type(std::string_view name) noexcept;
/// The operation named `name` ("prod" and "avg" are understood too), else nothing.
[[nodiscard]] SIRCL_API std::optional<ReduceOp> parse_reduce_op(std::string_view name) noexcept;

/// Maps a C++ arithmetic type to its DataType, for the typed overloads.
template <typename T>
struct DataTypeOf;
template <>
struct DataTypeOf<double> {
  static constexpr DataType value = DataType::f64;
};
template <>
struct DataTypeOf<float> {
  static constexpr DataType value = DataType::f32;
};
template <>
struct DataTypeOf<std::int8_t> {
  static constexpr DataType value = DataType::i8;
};
template <>
struct DataTypeOf<std::uint8_t> {
  static constexpr DataType value = DataType::u8;
};
template <>
struct DataTypeOf<std::int32_t> {
  static constexpr DataType value = DataType::i32;
};
template <>
struct DataTypeOf<std::uint32_t> {
  static constexpr DataType value = DataType::u32;
};
template <>
struct DataTypeOf<std::int64_t> {
  static constexpr DataType value = DataType::i64;
};
template <>
struct DataTypeOf<std::uint64_t> {
  static constexpr DataType value = DataType::u64;
};

}  // namespace sircl
