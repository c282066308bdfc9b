// Sums of fp8 by way of f16, once per Highway target that converts f16 in hardware.
//
// E5M2 is the upper half of an f16. E4M3 is one too, with its exponent field widened, if every
// value is taken 2^8 times smaller; sums scale back exactly, so that happens in no place at all.
// Going back, f32 is rounded to odd in f16 first: its 11 digits then still tell on which side of a
// tie of the 3 or 4 digits the sum lies, and the second rounding, on twice as many lanes, is the
// right one.
//
// Where f16 has fewer digits, in its denormals, sums are multiples of the least fp8 and exact.
// Quotients are not, and infinities and NaN need care: those blocks take the way of
// minifloat-inl.hpp.
#include <hwy/highway.h>

#include <cstdint>

#include "reduce/minifloat-inl.hpp"

#if defined(SIRCL_REDUCE_F8_SUM_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SIRCL_REDUCE_F8_SUM_INL_HPP_
#undef SIRCL_REDUCE_F8_SUM_INL_HPP_
#else
#define SIRCL_REDUCE_F8_SUM_INL_HPP_
#endif

#if SIRCL_REDUCE_HAS_F16
HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {

/// E4M3 as its bits look 2^8 times smaller: the bias of f16.
struct ScaledE4m3Format : E4m3Format {
  static constexpr int kBias = F16Format::kBias;
};

// Accumulators 0 and 1 hold the even bytes of one register, 2 and 3 the odd ones.
template <class Format>
struct F8SumTraits {
  using Element = std::uint8_t;
  using Acc = VecF;
  using TagHalf = hn::Rebind<hwy::float16_t, TagF>;
  using TagHalfU = hn::Rebind<std::uint16_t, TagF>;
  using TagW = hn::Repartition<std::uint16_t, TagF>;
  using TagWI = hn::Repartition<std::int16_t, TagF>;
  using VecW = hn::Vec<TagW>;
  using VecWI = hn::Vec<TagWI>;
  static constexpr bool kDividesInMemory = false;
  static_assert(Format::kBias == F16Format::kBias);
  // Where the last digit of the fp8 lies in the f16.
  static constexpr int kShift = F16Format::kMantissaBits - Format::kMantissaBits;

  static HWY_INLINE std::size_t block_bytes() { return 4 * hn::Lanes(TagF()); }

  // `words`: fp8 in the upper bytes, anything in the lower ones.
  static HWY_INLINE VecW to_f16(VecW words) {
    const TagW dw;
    if constexpr (kShift == 8) {
      return hn::And(words, hn::Set(dw, std::uint16_t{0xFF00}));
    } else {
      // The sign comes along twice, the second of which makes room for the wider exponent.
      const auto shifted = hn::BitCast(dw, hn::ShiftRight<1>(hn::BitCast(TagWI(), words)));
      const auto half = hn::And(shifted, hn::Set(dw, std::uint16_t{0xBF80}));
      const auto greatest = hn::Set(dw, std::uint16_t{0x3F80});
      return hn::IfThenElse(hn::Eq(hn::And(half, greatest), greatest),
                            hn::Set(dw, std::uint16_t{F16Format::kNan}), half);
    }
  }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const TagW dw;
    VecW words = hn::BitCast(dw, hn::LoadU(TagU(), reinterpret_cast<const std::uint32_t*>(from)));
    if constexpr (kPart < 2) words = hn::ShiftLeft<8>(words);
    words = to_f16(words);
    if constexpr (kPart % 2 == 0) {
      return hn::PromoteTo(TagF(), hn::BitCast(TagHalf(), hn::LowerHalf(TagHalfU(), words)));
    } else {
      return hn::PromoteTo(TagF(), hn::BitCast(TagHalf(), hn::UpperHalf(TagHalfU(), words)));
    }
  }

  static HWY_INLINE Acc divide(Acc a, std::uint32_t by) { return divide_f32(a, by); }

  // To f16, rounded to odd: the last digit is set if any digit is lost.
  static HWY_INLINE hn::Vec<TagHalfU> to_odd_f16(Acc a) {
    const TagU du;
    const auto lost = hn::Set(du, 0x1FFFu);
    const auto bits = hn::BitCast(du, a);
    const auto odd = hn::AndNot(lost, hn::Or(bits, hn::Add(hn::And(bits, lost), lost)));
    return hn::BitCast(TagHalfU(), hn::DemoteTo(TagHalf(), hn::BitCast(TagF(), odd)));
  }

  // To fp8 in the lower bytes; see Bf16Traits::round for how ties go to even.
  static HWY_INLINE VecW round(Acc low, Acc high) {
    const TagW dw;
    const TagWI dwi;
    const VecWI half = hn::BitCast(dwi, hn::Combine(dw, to_odd_f16(high), to_odd_f16(low)));
    const VecWI magnitude = hn::And(half, hn::Set(dwi, std::int16_t{0x7FFF}));
    const VecWI marked =
        hn::OrAnd(magnitude, hn::ShiftRight<kShift>(magnitude), hn::Set(dwi, std::int16_t{1}));
    // Unsigned, for the sum may pass 2^15.
    const VecW rounded = hn::ShiftRight<kShift>(hn::BitCast(
        dw, hn::Add(marked, hn::Set(dwi, static_cast<std::int16_t>((1 << (kShift - 1)) - 1)))));
    const VecWI bounded = hn::Min(hn::BitCast(dwi, rounded),
                                  hn::Set(dwi, static_cast<std::int16_t>(Format::kGreatest)));
    const VecW sign =
        hn::And(hn::ShiftRight<8>(hn::BitCast(dw, half)), hn::Set(dw, std::uint16_t{0x80}));
    return hn::Or(hn::BitCast(dw, bounded), sign);
  }

  static HWY_INLINE void store_words(std::uint8_t* to, VecW even, VecW odd) {
    hn::StoreU(hn::BitCast(TagU(), hn::Or(even, hn::ShiftLeft<8>(odd))), TagU(),
               reinterpret_cast<std::uint32_t*>(to));
  }

  static HWY_INLINE VecW demote_pair(Acc low, Acc high) {
    return hn::Combine(TagW(), hn::DemoteTo(TagHalfU(), demote<Format>(high)),
                       hn::DemoteTo(TagHalfU(), demote<Format>(low)));
  }

  static HWY_NOINLINE void store_quotient(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    store_words(to, demote_pair(a0, a1), demote_pair(a2, a3));
  }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    const Acc all = hn::Abs(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)));
    const Acc greatest = hn::BitCast(TagF(), hn::Set(TagU(), 0x7F7FFFFFu));
    if (HWY_UNLIKELY(!hn::AllTrue(TagF(), hn::Le(all, greatest)))) {
      return store_quotient(to, a0, a1, a2, a3);
    }
    store_words(to, round(a0, a1), round(a2, a3));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();
#endif

#endif  // include guard per target
