// The N-ary loop that all kernels share, once per Highway target.
//
// A block is what four accumulator registers hold. Traits say how a block of one input is loaded
// into them and how it is stored; an Op combines two accumulators. All inputs of a block are read
// before any of it is written, so `out` may be one of them. What is left after the last whole block
// goes through a buffer: nothing outside the arrays is touched.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(SIRCL_REDUCE_LOOP_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SIRCL_REDUCE_LOOP_INL_HPP_
#undef SIRCL_REDUCE_LOOP_INL_HPP_
#else
#define SIRCL_REDUCE_LOOP_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace sircl::reduce {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Sum {
  static constexpr bool kDivides = true;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Add(a, b);
  }
};

struct Product {
  static constexpr bool kDivides = false;
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};

template <class Traits>
HWY_INLINE void load_block(const std::uint8_t* from, typename Traits::Acc& a0,
                           typename Traits::Acc& a1, typename Traits::Acc& a2,
                           typename Traits::Acc& a3) {
  a0 = Traits::template load<0>(from);
  a1 = Traits::template load<1>(from);
  a2 = Traits::template load<2>(from);
  a3 = Traits::template load<3>(from);
}

template <class Traits, class Op>
HWY_INLINE void combine_block(const std::uint8_t* from, typename Traits::Acc& a0,
                              typename Traits::Acc& a1, typename Traits::Acc& a2,
                              typename Traits::Acc& a3) {
  a0 = Op::apply(a0, Traits::template load<0>(from));
  a1 = Op::apply(a1, Traits::template load<1>(from));
  a2 = Op::apply(a2, Traits::template load<2>(from));
  a3 = Op::apply(a3, Traits::template load<3>(from));
}

template <class Traits, class Op>
HWY_INLINE void store_block(std::uint8_t* to, typename Traits::Acc a0, typename Traits::Acc a1,
                            typename Traits::Acc a2, typename Traits::Acc a3,
                            std::uint32_t divide_by) {
  if constexpr (Op::kDivides) {
    if (HWY_UNLIKELY(divide_by > 1)) {
      a0 = Traits::divide(a0, divide_by);
      a1 = Traits::divide(a1, divide_by);
      a2 = Traits::divide(a2, divide_by);
      a3 = Traits::divide(a3, divide_by);
      if constexpr (requires { Traits::store_quotient(to, a0, a1, a2, a3); }) {
        return Traits::store_quotient(to, a0, a1, a2, a3);
      }
    }
  }
  Traits::store(to, a0, a1, a2, a3);
}

// The bytes [begin, end) that are less than a block.
template <class Traits, class Op>
HWY_NOINLINE void reduce_tail(const void* const* inputs, std::size_t input_count, std::uint8_t* out,
                              std::size_t begin, std::size_t end, std::uint32_t divide_by) {
  alignas(64) std::uint8_t buffer[4 * HWY_MAX_BYTES];
  const std::size_t bytes = end - begin;
  std::memset(buffer, 0, Traits::block_bytes());
  std::memcpy(buffer, static_cast<const std::uint8_t*>(inputs[0]) + begin, bytes);
  typename Traits::Acc a0, a1, a2, a3;
  load_block<Traits>(buffer, a0, a1, a2, a3);
  for (std::size_t j = 1; j < input_count; ++j) {
    std::memcpy(buffer, static_cast<const std::uint8_t*>(inputs[j]) + begin, bytes);
    combine_block<Traits, Op>(buffer, a0, a1, a2, a3);
  }
  store_block<Traits, Op>(buffer, a0, a1, a2, a3, divide_by);
  std::memcpy(out + begin, buffer, bytes);
}

// kInputs = 0: any number, at least one.
template <class Traits, class Op, std::size_t kInputs>
HWY_INLINE void reduce_blocks(const void* const* inputs, std::size_t input_count, void* out,
                              std::size_t begin, std::size_t end, std::uint32_t divide_by) {
  const std::size_t n = kInputs == 0 ? input_count : kInputs;
  const std::uint8_t* in[kInputs == 0 ? 1 : kInputs];
  for (std::size_t j = 0; j < (kInputs == 0 ? 1 : kInputs); ++j) {
    in[j] = static_cast<const std::uint8_t*>(inputs[j]);
  }
  auto* const to = static_cast<std::uint8_t*>(out);
  const std::size_t block = Traits::block_bytes();
  std::size_t i = begin;
  for (; i + block <= end; i += block) {
    typename Traits::Acc a0, a1, a2, a3;
    load_block<Traits>(in[0] + i, a0, a1, a2, a3);
    if constexpr (kInputs == 0) {
      for (std::size_t j = 1; j < n; ++j) {
        combine_block<Traits, Op>(static_cast<const std::uint8_t*>(inputs[j]) + i, a0, a1, a2, a3);
      }
    } else {
      if constexpr (kInputs > 1) combine_block<Traits, Op>(in[1] + i, a0, a1, a2, a3);
      if constexpr (kInputs > 2) combine_block<Traits, Op>(in[2] + i, a0, a1, a2, a3);
      if constexpr (kInputs > 3) combine_block<Traits, Op>(in[3] + i, a0, a1, a2, a3);
    }
    store_block<Traits, Op>(to + i, a0, a1, a2, a3, divide_by);
  }
  if (i < end) reduce_tail<Traits, Op>(inputs, n, to, i, end, divide_by);
}

// The bytes [begin, end) of every array.
template <class Traits, class Op>
HWY_INLINE void reduce_range(const void* const* inputs, std::size_t input_count, void* out,
                             std::size_t begin, std::size_t end, std::uint32_t divide_by) {
  switch (input_count) {
    case 2:
      return reduce_blocks<Traits, Op, 2>(inputs, input_count, out, begin, end, divide_by);
    case 3:
      return reduce_blocks<Traits, Op, 3>(inputs, input_count, out, begin, end, divide_by);
    case 4:
      return reduce_blocks<Traits, Op, 4>(inputs, input_count, out, begin, end, divide_by);
    default:
      return reduce_blocks<Traits, Op, 0>(inputs, input_count, out, begin, end, divide_by);
  }
}

// The entry in the kernel table.
template <class Traits, class Op>
void reduce_all(const void* const* inputs, std::size_t input_count, void* out, std::size_t count,
                std::uint32_t divide_by) {
  const std::size_t bytes = count * sizeof(typename Traits::Element);
  if (bytes == 0 || input_count == 0) return;
  if (input_count == 1 && (divide_by <= 1 || !Op::kDivides)) {
    if (out != inputs[0]) std::memcpy(out, inputs[0], bytes);
    return;
  }
  if constexpr (Op::kDivides && Traits::kDividesInMemory) {
    if (divide_by > 1) {
      // In pieces that stay in the first cache level between the two passes.
      constexpr std::size_t kPiece = 8192;
      for (std::size_t i = 0; i < bytes; i += kPiece) {
        const std::size_t end = bytes - i < kPiece ? bytes : i + kPiece;
        reduce_range<Traits, Op>(inputs, input_count, out, i, end, 1);
        Traits::divide_in_memory(static_cast<std::uint8_t*>(out) + i, end - i, divide_by);
      }
      return;
    }
  }
  reduce_range<Traits, Op>(inputs, input_count, out, 0, bytes, divide_by);
}

}  // namespace HWY_NAMESPACE
}  // namespace sircl::reduce
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
