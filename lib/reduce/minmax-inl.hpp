// Minimum and maximum of floating-point types, on their bits, once per Highway target.
//
// Flipping the lower bits of negative values turns the order of floating-point numbers, -0 < +0
// included, into that of signed integers. A NaN becomes the value that wins the comparison, and the
// canonical NaN when stored. So every target gives the same bits, and no conversion is needed.
#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "reduce/loop-inl.hpp"

#if defined(SIRCL_REDUCE_MINMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SIRCL_REDUCE_MINMAX_INL_HPP_
#undef SIRCL_REDUCE_MINMAX_INL_HPP_
#else
#define SIRCL_REDUCE_MINMAX_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {

struct Min {
  static constexpr bool kDivides = false;
  static constexpr bool kIsMax = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Min(a, b);
  }
};

struct Max {
  static constexpr bool kDivides = false;
  static constexpr bool kIsMax = true;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Max(a, b);
  }
};

/// Bits: the signed integer of the type's size. kGreatest: the greatest magnitude that is not NaN.
/// kNan: the canonical NaN.
template <class Bits, Bits kGreatest, Bits kNan, bool kIsMax>
struct OrderedTraits {
  using Element = Bits;
  using D = hn::ScalableTag<Bits>;
  using Acc = hn::Vec<D>;
  static constexpr bool kDividesInMemory = false;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  static constexpr Bits kWinner = kIsMax ? kMagnitude : std::numeric_limits<Bits>::min();

  static HWY_INLINE std::size_t block_bytes() { return 4 * sizeof(Bits) * hn::Lanes(D()); }

  // Its own inverse: the sign bit stays.
  static HWY_INLINE Acc flip(Acc v) {
    return hn::Xor(v, hn::And(hn::BroadcastSignBit(v), hn::Set(D(), kMagnitude)));
  }

  static HWY_INLINE hn::Mask<D> is_nan(Acc v) {
    return hn::Gt(hn::And(v, hn::Set(D(), kMagnitude)), hn::Set(D(), kGreatest));
  }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    const D d;
    const Acc v = hn::LoadU(d, reinterpret_cast<const Bits*>(from) + kPart * hn::Lanes(d));
    return hn::IfThenElse(is_nan(v), hn::Set(d, kWinner), flip(v));
  }

  // Some NaN flips into the winner and the winner flips into some NaN, so the test works here too.
  static HWY_INLINE Acc finish(Acc key) {
    const Acc v = flip(key);
    return hn::IfThenElse(is_nan(v), hn::Set(D(), kNan), v);
  }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    const D d;
    auto* const p = reinterpret_cast<Bits*>(to);
    const std::size_t lanes = hn::Lanes(d);
    hn::StoreU(finish(a0), d, p);
    hn::StoreU(finish(a1), d, p + lanes);
    hn::StoreU(finish(a2), d, p + 2 * lanes);
    hn::StoreU(finish(a3), d, p + 3 * lanes);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
