// f16 and bf16: accumulated in f32, rounded once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/simd_half.cpp"
// clang-format off
#include "reduce/simd_targets.hpp"
#include <hwy/foreach_target.h>
// clang-format on
#include <hwy/highway.h>

#include "reduce/kernel_table.hpp"
#include "reduce/loop-inl.hpp"
#include "reduce/minifloat-inl.hpp"
#include "reduce/minmax-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {

// A register of 32-bit lanes sees two neighbouring bf16: the upper one is an f32 after masking, the
// lower one after a shift. No lane is moved. (Little-endian, as all targets here.)
struct Bf16Traits {
  using Element = std::uint16_t;
  using Acc = VecF;
  static constexpr bool kDividesInMemory = false;

  static HWY_INLINE std::size_t block_bytes() { return 8 * hn::Lanes(TagF()); }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const TagU du;
    const auto pairs =
        hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from) + kPart / 2 * hn::Lanes(du));
    if constexpr (kPart % 2 == 0) {
      return hn::BitCast(TagF(), hn::ShiftLeft<16>(pairs));
    } else {
      return hn::BitCast(TagF(), hn::And(pairs, hn::Set(du, 0xFFFF0000u)));
    }
  }

  static HWY_INLINE Acc divide(Acc a, std::uint32_t by) { return divide_f32(a, by); }

  // Makes the upper half the nearest bf16, ties to even: an odd upper half leaves its mark below
  // the tie, where it tips the balance and disturbs nothing else. A NaN has no bits there to carry
  // from.
  static HWY_INLINE hn::Vec<TagU> round(hn::Vec<TagU> bits) {
    const TagU du;
    const auto marked = hn::OrAnd(bits, hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    return hn::Add(marked, hn::Set(du, 0x7FFFu));
  }

  static HWY_INLINE void store_pairs(std::uint32_t* to, hn::Vec<TagU> even, hn::Vec<TagU> odd) {
    const TagU du;
    const hn::Repartition<std::uint16_t, TagU> d16;
    const auto low = hn::BitCast(d16, hn::ShiftRight<16>(round(even)));
    hn::StoreU(hn::BitCast(du, hn::OddEven(hn::BitCast(d16, round(odd)), low)), du, to);
  }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    const TagU du;
    if (HWY_UNLIKELY(may_hold_nan(a0, a1, a2, a3))) {
      a0 = canonical_nan(a0);
      a1 = canonical_nan(a1);
      a2 = canonical_nan(a2);
      a3 = canonical_nan(a3);
    }
    auto* const p = reinterpret_cast<std::uint32_t*>(to);
    store_pairs(p, hn::BitCast(du, a0), hn::BitCast(du, a1));
    store_pairs(p + hn::Lanes(du), hn::BitCast(du, a2), hn::BitCast(du, a3));
  }
};

#if SIRCL_REDUCE_HAS_F16
struct F16Traits {
  using Element = std::uint16_t;
  using Acc = VecF;
  using TagH = hn::Rebind<hwy::float16_t, TagF>;
  static constexpr bool kDividesInMemory = false;

  static HWY_INLINE std::size_t block_bytes() { return 8 * hn::Lanes(TagF()); }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const auto half = hn::LoadU(
        TagH(), reinterpret_cast<const hwy::float16_t*>(from) + kPart * hn::Lanes(TagF()));
    return hn::PromoteTo(TagF(), half);
  }

  static HWY_INLINE Acc divide(Acc a, std::uint32_t by) { return divide_f32(a, by); }

  static HWY_INLINE void store_part(hwy::float16_t* to, Acc a) {
    hn::StoreU(hn::DemoteTo(TagH(), a), TagH(), to);
  }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    if (HWY_UNLIKELY(may_hold_nan(a0, a1, a2, a3))) {
      a0 = canonical_nan(a0);
      a1 = canonical_nan(a1);
      a2 = canonical_nan(a2);
      a3 = canonical_nan(a3);
    }
    auto* const p = reinterpret_cast<hwy::float16_t*>(to);
    const std::size_t lanes = hn::Lanes(TagF());
    store_part(p, a0);
    store_part(p + lanes, a1);
    store_part(p + 2 * lanes, a2);
    store_part(p + 3 * lanes, a3);
  }
};
#else
struct F16Traits {
  using Element = std::uint16_t;
  using Acc = VecF;
  static constexpr bool kDividesInMemory = false;

  static HWY_INLINE std::size_t block_bytes() { return 8 * hn::Lanes(TagF()); }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const TagI di;
    const TagU du;
    const auto pairs =
        hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from) + kPart / 2 * hn::Lanes(du));
    if constexpr (kPart % 2 == 0) {
      return promote<F16Format>(hn::BitCast(di, hn::And(pairs, hn::Set(du, 0xFFFFu))));
    } else {
      return promote<F16Format>(hn::BitCast(di, hn::ShiftRight<16>(pairs)));
    }
  }

  static HWY_INLINE Acc divide(Acc a, std::uint32_t by) { return divide_f32(a, by); }

  static HWY_INLINE void store_pairs(std::int32_t* to, Acc even, Acc odd) {
    hn::StoreU(hn::Or(demote<F16Format>(even), hn::ShiftLeft<16>(demote<F16Format>(odd))), TagI(),
               to);
  }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    auto* const p = reinterpret_cast<std::int32_t*>(to);
    store_pairs(p, a0, a1);
    store_pairs(p + hn::Lanes(TagI()), a2, a3);
  }
};
#endif

template <bool kIsMax>
using OrderedF16 = OrderedTraits<std::int16_t, 0x7C00, 0x7E00, kIsMax>;
template <bool kIsMax>
using OrderedBf16 = OrderedTraits<std::int16_t, 0x7F80, 0x7FC0, kIsMax>;

constexpr TypeKernels kTypes[] = {
    {DataType::f16, reduce_all<F16Traits, Sum>, reduce_all<F16Traits, Product>,
     reduce_all<OrderedF16<false>, Min>, reduce_all<OrderedF16<true>, Max>},
    {DataType::bf16, reduce_all<Bf16Traits, Sum>, reduce_all<Bf16Traits, Product>,
     reduce_all<OrderedBf16<false>, Min>, reduce_all<OrderedBf16<true>, Max>},
};
const Family kFamily = {hwy::TargetName(HWY_TARGET), kTypes};

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#define SIRCL_REDUCE_FAMILY simd_half_family
#include "reduce/family_lookup.hpp"
#endif
