// f32 and f64: accumulated in their own type.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/simd_float.cpp"
// clang-format off
#include "reduce/simd_targets.hpp"
#include <hwy/foreach_target.h>
// clang-format on
#include <hwy/highway.h>

#include "reduce/kernel_table.hpp"
#include "reduce/loop-inl.hpp"
#include "reduce/minmax-inl.hpp"

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {

template <class T>
struct FloatTraits {
  using Element = T;
  using D = hn::ScalableTag<T>;
  using Acc = hn::Vec<D>;
  static constexpr bool kDividesInMemory = false;

  static HWY_INLINE std::size_t block_bytes() { return 4 * sizeof(T) * hn::Lanes(D()); }

  template <int kPart>
  static HWY_INLINE Acc load(const std::uint8_t* from) {
    return hn::LoadU(D(), reinterpret_cast<const T*>(from) + kPart * hn::Lanes(D()));
  }

  static HWY_INLINE Acc divide(Acc a, std::uint32_t by) {
    return hn::Div(a, hn::Set(D(), static_cast<T>(by)));
  }

  // Processors differ in the sign and payload of the NaN that they make.
  static HWY_INLINE Acc finish(Acc a) {
    const hn::RebindToUnsigned<D> du;
    constexpr std::uint64_t kQuiet = sizeof(T) == 4 ? 0x7FC00000u : 0x7FF8000000000000u;
    const Acc nan = hn::BitCast(D(), hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(kQuiet)));
    return hn::IfThenElse(hn::IsNaN(a), nan, a);
  }

  static HWY_INLINE void store(std::uint8_t* to, Acc a0, Acc a1, Acc a2, Acc a3) {
    const D d;
    auto* const p = reinterpret_cast<T*>(to);
    const std::size_t lanes = hn::Lanes(d);
    hn::StoreU(finish(a0), d, p);
    hn::StoreU(finish(a1), d, p + lanes);
    hn::StoreU(finish(a2), d, p + 2 * lanes);
    hn::StoreU(finish(a3), d, p + 3 * lanes);
  }
};

template <bool kIsMax>
using OrderedF32 = OrderedTraits<std::int32_t, 0x7F800000, 0x7FC00000, kIsMax>;
template <bool kIsMax>
using OrderedF64 = OrderedTraits<std::int64_t, 0x7FF0000000000000, 0x7FF8000000000000, kIsMax>;

constexpr TypeKernels kTypes[] = {
    {DataType::f32, reduce_all<FloatTraits<float>, Sum>, reduce_all<FloatTraits<float>, Product>,
     reduce_all<OrderedF32<false>, Min>, reduce_all<OrderedF32<true>, Max>},
    {DataType::f64, reduce_all<FloatTraits<double>, Sum>, reduce_all<FloatTraits<double>, Product>,
     reduce_all<OrderedF64<false>, Min>, reduce_all<OrderedF64<true>, Max>},
};
const Family kFamily = {hwy::TargetName(HWY_TARGET), kTypes};

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
#define SIRCL_REDUCE_FAMILY simd_float_family
#include "reduce/family_lookup.hpp"
#endif
