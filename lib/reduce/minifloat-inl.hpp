// Conversion between f32 and the small IEEE-like formats on 32-bit lanes, once per Highway target.
//
// Integer arithmetic, but for the denormals of the small format: there one f32 addition or
// subtraction of a power of two does the shifting, and the rounding to nearest even. None of it
// depends on how the processor treats f32 denormals.
#include <hwy/highway.h>

#include <cstdint>

#if defined(SIRCL_REDUCE_MINIFLOAT_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SIRCL_REDUCE_MINIFLOAT_INL_HPP_
#undef SIRCL_REDUCE_MINIFLOAT_INL_HPP_
#else
#define SIRCL_REDUCE_MINIFLOAT_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using TagF = hn::ScalableTag<float>;
using TagI = hn::RebindToSigned<TagF>;
using TagU = hn::RebindToUnsigned<TagF>;
using VecF = hn::Vec<TagF>;
using VecI = hn::Vec<TagI>;

struct F16Format {
  static constexpr int kBits = 16;
  static constexpr int kMantissaBits = 10;
  static constexpr int kBias = 15;
  static constexpr bool kHasInfinity = true;
  static constexpr bool kSaturates = false;
  static constexpr std::int32_t kInfinity = 0x7C00;
  static constexpr std::int32_t kGreatest = 0x7BFF;  // finite
  static constexpr std::int32_t kNan = 0x7E00;
};

struct E4m3Format {
  static constexpr int kBits = 8;
  static constexpr int kMantissaBits = 3;
  static constexpr int kBias = 7;
  static constexpr bool kHasInfinity = false;
  static constexpr bool kSaturates = true;
  static constexpr std::int32_t kInfinity = 0;  // unused
  static constexpr std::int32_t kGreatest = 0x7E;
  static constexpr std::int32_t kNan = 0x7F;
};

struct E5m2Format {
  static constexpr int kBits = 8;
  static constexpr int kMantissaBits = 2;
  static constexpr int kBias = 15;
  static constexpr bool kHasInfinity = true;
  static constexpr bool kSaturates = true;
  static constexpr std::int32_t kInfinity = 0x7C;
  static constexpr std::int32_t kGreatest = 0x7B;
  static constexpr std::int32_t kNan = 0x7E;
};

/// `bits`: the small float in the low bits of each lane, zeros above.
template <class Format>
HWY_INLINE VecF promote(VecI bits) {
  const TagF df;
  const TagI di;
  constexpr int kShift = 23 - Format::kMantissaBits;
  constexpr std::int32_t kRebias = (127 - Format::kBias) << 23;
  const VecI magnitude = hn::And(bits, hn::Set(di, (1 << (Format::kBits - 1)) - 1));
  const VecI sign = hn::ShiftLeft<32 - Format::kBits>(hn::Xor(bits, magnitude));
  VecI value = hn::Add(hn::ShiftLeft<kShift>(magnitude), hn::Set(di, kRebias));
  const VecF denormal =
      hn::Sub(hn::BitCast(df, hn::Add(value, hn::Set(di, 1 << 23))),
              hn::BitCast(df, hn::Set(di, kRebias + (1 << 23))));  // the least normal
  if constexpr (Format::kHasInfinity) {
    constexpr std::int32_t kToTop = 0x7F800000 - ((Format::kInfinity << kShift) + kRebias);
    value = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, Format::kGreatest)),
                           hn::Add(value, hn::Set(di, kToTop)), value);
  } else {
    value = hn::IfThenElse(hn::Eq(magnitude, hn::Set(di, Format::kNan)), hn::Set(di, 0x7FC00000),
                           value);
  }
  value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 1 << Format::kMantissaBits)),
                         hn::BitCast(di, denormal), value);
  return hn::BitCast(df, hn::Or(value, sign));
}

/// The small float nearest to `f`, ties to even, in the low bits of each lane, zeros above.
template <class Format>
HWY_INLINE VecI demote(VecF f) {
  const TagF df;
  const TagI di;
  const TagU du;
  constexpr int kShift = 23 - Format::kMantissaBits;
  constexpr std::int32_t kRebias = (127 - Format::kBias) << 23;
  constexpr std::int32_t kLeastNormal = kRebias + (1 << 23);
  // The power of two whose last f32 digit weighs as much as the format's least denormal.
  constexpr std::int32_t kAligner = (127 + 24 - Format::kBias - Format::kMantissaBits) << 23;

  const VecI all = hn::BitCast(di, f);
  const VecI magnitude = hn::And(all, hn::Set(di, 0x7FFFFFFF));
  const VecI sign = hn::Xor(all, magnitude);
  VecI bounded = magnitude;
  if constexpr (Format::kSaturates) {
    bounded = hn::Min(magnitude, hn::Set(di, (Format::kGreatest << kShift) + kRebias));
  }
  const VecI odd = hn::And(hn::ShiftRight<kShift>(bounded), hn::Set(di, 1));
  VecI value = hn::ShiftRight<kShift>(
      hn::Add(hn::Add(bounded, hn::Set(di, (1 << (kShift - 1)) - 1 - kRebias)), odd));
  if constexpr (!Format::kSaturates) value = hn::Min(value, hn::Set(di, Format::kInfinity));
  const VecI aligner = hn::Set(di, kAligner);
  const VecI denormal = hn::Sub(
      hn::BitCast(di, hn::Add(hn::BitCast(df, bounded), hn::BitCast(df, aligner))), aligner);
  value = hn::IfThenElse(hn::Lt(bounded, hn::Set(di, kLeastNormal)), denormal, value);
  if constexpr (Format::kSaturates && Format::kHasInfinity) {
    value = hn::IfThenElse(hn::Eq(magnitude, hn::Set(di, 0x7F800000)),
                           hn::Set(di, Format::kInfinity), value);
  }
  value = hn::Or(value, hn::BitCast(di, hn::ShiftRight<32 - Format::kBits>(hn::BitCast(du, sign))));
  return hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7F800000)), hn::Set(di, Format::kNan),
                        value);
}

/// Whether any lane may be NaN: one test for four registers. Opposite infinities raise it too.
HWY_INLINE bool may_hold_nan(VecF a0, VecF a1, VecF a2, VecF a3) {
  return !hn::AllFalse(TagF(), hn::IsNaN(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3))));
}

HWY_INLINE VecF canonical_nan(VecF a) {
  return hn::IfThenElse(hn::IsNaN(a), hn::BitCast(TagF(), hn::Set(TagU(), 0x7FC00000u)), a);
}

HWY_INLINE VecF divide_f32(VecF a, std::uint32_t by) {
  return hn::Div(a, hn::Set(TagF(), static_cast<float>(by)));
}

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
