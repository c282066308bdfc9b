// Integers: sums and products wrap, averages truncate towards zero.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/simd_integer.cpp"
// clang-format off
#include "reduce/simd_targets.hpp"
#include <hwy/foreach_target.h>
// clang-format on
#include <hwy/highway.h>

#include <type_traits>

#include "reduce/kernel_table.hpp"
#include "reduce/loop-inl.hpp"
#include "reduce/minmax-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {

template <class T>
struct IntegerTraits {
  using Element = T;
  using D = hn::ScalableTag<T>;
  using Acc = hn::Vec<D>;
  static constexpr bool kDividesInMemory = true;

  static HWY_INLINE std::size_t block_bytes() { return 4 * sizeof(T) * hn::Lanes(D()); }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    return hn::LoadU(D(), reinterpret_cast<const T*>(from) + kPart * hn::Lanes(D()));
  }

  // Never called with a divisor: see divide_in_memory.
  static HWY_INLINE Acc divide(Acc a, std::uint32_t) { return a; }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    const D d;
    auto* const p = reinterpret_cast<T*>(to);
    const std::size_t lanes = hn::Lanes(d);
    hn::StoreU(a0, d, p);
    hn::StoreU(a1, d, p + lanes);
    hn::StoreU(a2, d, p + 2 * lanes);
    hn::StoreU(a3, d, p + 3 * lanes);
  }

  // No target divides integers in vectors.
  static void divide_in_memory(std::uint8_t* data, std::size_t bytes, std::uint32_t by) {
    // Wide enough for every T and every divisor.
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
      T value;
      std::memcpy(&value, data + i, sizeof(T));
      value = static_cast<T>(static_cast<Wide>(value) / static_cast<Wide>(by));
      std::memcpy(data + i, &value, sizeof(T));
    }
  }
};

// No target multiplies bytes: two products of 16 bits, of which the lower halves count.
struct ByteProduct {
  static constexpr bool kDivides = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    const hn::DFromV<V> d;
    const hn::Repartition<std::uint16_t, decltype(d)> d16;
    const auto wide_a = hn::BitCast(d16, a);
    const auto wide_b = hn::BitCast(d16, b);
    const auto even = hn::Mul(wide_a, wide_b);
    const auto odd = hn::Mul(hn::ShiftRight<8>(wide_a), hn::ShiftRight<8>(wide_b));
    return hn::BitCast(
        d, hn::Or(hn::And(even, hn::Set(d16, std::uint16_t{0xFF})), hn::ShiftLeft<8>(odd)));
  }
};

template <class T>
using ProductOf = std::conditional_t<sizeof(T) == 1, ByteProduct, Product>;

// Sign does not matter to a wrapping product.
template <class T>
constexpr TypeKernels kernels_of(DataType type) {
  using Unsigned = std::make_unsigned_t<T>;
  return {type, reduce_all<IntegerTraits<T>, Sum>,
          reduce_all<IntegerTraits<Unsigned>, ProductOf<Unsigned>>,
          reduce_all<IntegerTraits<T>, Min>, reduce_all<IntegerTraits<T>, Max>};
}

constexpr TypeKernels kTypes[] = {
    kernels_of<std::int8_t>(DataType::i8),   kernels_of<std::uint8_t>(DataType::u8),
    kernels_of<std::int32_t>(DataType::i32), kernels_of<std::uint32_t>(DataType::u32),
    kernels_of<std::int64_t>(DataType::i64), kernels_of<std::uint64_t>(DataType::u64),
};
const Family kFamily = {hwy::TargetName(HWY_TARGET), kTypes};

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#define SIRCL_REDUCE_FAMILY simd_integer_family
#include "reduce/family_lookup.hpp"
#endif
