// f8e4m3 and f8e5m2: accumulated in f32, rounded once, saturated.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/simd_f8.cpp"
// clang-format off
#include "reduce/simd_targets.hpp"
#include <hwy/foreach_target.h>
// clang-format on
#include <hwy/highway.h>

#include "reduce/f8_sum-inl.hpp"
#include "reduce/kernel_table.hpp"
#include "reduce/loop-inl.hpp"
#include "reduce/minifloat-inl.hpp"
#include "reduce/minmax-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {

// A long product can leave the range of f32 though no factor was infinite. It stays the greatest
// f32 then: infinity would turn into NaN at a later factor of zero, and would not saturate.
struct SaturatingProduct {
  static constexpr bool kDivides = false;
  static HWY_INLINE VecF apply(VecF a, VecF b) {
    const TagF df;
    const VecF greatest = hn::BitCast(df, hn::Set(TagI(), 0x7F7FFFFF));
    const VecF product = hn::Mul(a, b);
    const auto overflowed =
        hn::And(hn::Gt(hn::Abs(product), greatest),
                hn::And(hn::Le(hn::Abs(a), greatest), hn::Le(hn::Abs(b), greatest)));
    return hn::IfThenElse(overflowed, hn::CopySign(greatest, product), product);
  }
};

// Accumulator k holds byte k of each 32-bit lane of one register.
template <class Format>
struct F8Traits {
  using Element = std::uint8_t;
  using Acc = VecF;
  static constexpr bool kDividesInMemory = false;

  static HWY_INLINE std::size_t block_bytes() { return 4 * hn::Lanes(TagF()); }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const TagI di;
    const TagU du;
    const auto four = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from));
    const auto byte = hn::And(hn::ShiftRight<8 * kPart>(four), hn::Set(du, 0xFFu));
    return promote<Format>(hn::BitCast(di, byte));
  }

  static HWY_INLINE Acc divide(Acc a, std::uint32_t by) { return divide_f32(a, by); }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    const VecI low = hn::Or(demote<Format>(a0), hn::ShiftLeft<8>(demote<Format>(a1)));
    const VecI high = hn::Or(demote<Format>(a2), hn::ShiftLeft<8>(demote<Format>(a3)));
    hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), TagI(), reinterpret_cast<std::int32_t*>(to));
  }
};

using E4m3 = F8Traits<E4m3Format>;
using E5m2 = F8Traits<E5m2Format>;
#if SIRCL_REDUCE_HAS_F16
using E4m3Sum = F8SumTraits<ScaledE4m3Format>;
using E5m2Sum = F8SumTraits<E5m2Format>;
#else
using E4m3Sum = E4m3;
using E5m2Sum = E5m2;
#endif
template <bool kIsMax>
using OrderedE4m3 = OrderedTraits<std::int8_t, 0x7E, 0x7F, kIsMax>;
template <bool kIsMax>
using OrderedE5m2 = OrderedTraits<std::int8_t, 0x7C, 0x7E, kIsMax>;

constexpr TypeKernels kTypes[] = {
    {DataType::f8e4m3, reduce_all<E4m3Sum, Sum>, reduce_all<E4m3, SaturatingProduct>,
     reduce_all<OrderedE4m3<false>, Min>, reduce_all<OrderedE4m3<true>, Max>},
    {DataType::f8e5m2, reduce_all<E5m2Sum, Sum>, reduce_all<E5m2, SaturatingProduct>,
     reduce_all<OrderedE5m2<false>, Min>, reduce_all<OrderedE5m2<true>, Max>},
};
const Family kFamily = {hwy::TargetName(HWY_TARGET), kTypes};

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#define SIRCL_REDUCE_FAMILY simd_f8_family
#include "reduce/family_lookup.hpp"
#endif
