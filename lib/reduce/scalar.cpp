// All kernels in plain C++, one element at a time. Written for being obviously right, and on
// purpose without the tricks of the vector kernels: it is what they are compared with.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "reduce/kernel_table.hpp"

namespace sircl::reduce {
namespace {

template <class T>
T load(const void* array, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::uint8_t*>(array) + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(void* array, std::size_t index, T value) {
  std::memcpy(static_cast<std::uint8_t*>(array) + index * sizeof(T), &value, sizeof(T));
}

// --- Element types: how one is stored, and how it is accumulated ---------------------------------

template <class T, class Bits, Bits kNan>
struct NativeFloat {
  using Stored = Bits;
  using Acc = T;
  static constexpr bool kSaturates = false;

  static Acc decode(Bits bits) {
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static Bits encode(Acc value) {
    if (std::isnan(value)) return kNan;
    Bits bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
};

// A format like those of IEEE 754. With kTopIsFinite, the greatest exponent holds finite values but
// for the one pattern of all ones, which is NaN (E4M3).
template <class Bits, int kMantissaBits, int kBias, Bits kNan, bool kTopIsFinite, bool kSaturate>
struct SmallFloat {
  using Stored = Bits;
  using Acc = float;
  static constexpr bool kSaturates = kSaturate;
  static constexpr int kLeastExponent = 1 - kBias;
  static constexpr int kWidth = 8 * sizeof(Bits);
  static constexpr unsigned kSign = 1u << (kWidth - 1);
  static constexpr unsigned kTop = (kSign - 1) >> kMantissaBits;  // the exponent of all ones
  static constexpr unsigned kInfinity = kTop << kMantissaBits;
  static constexpr unsigned kGreatest = kTopIsFinite ? kSign - 2 : kInfinity - 1;

  static Acc decode(Bits bits) {
    const unsigned exponent = (bits & (kSign - 1)) >> kMantissaBits;
    const unsigned mantissa = bits & ((1u << kMantissaBits) - 1);
    double value = 0;
    if (kTopIsFinite && (bits & (kSign - 1)) == kSign - 1) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (!kTopIsFinite && exponent == kTop) {
      value = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                            : std::numeric_limits<double>::infinity();
    } else if (exponent == 0) {
      value = std::ldexp(mantissa, kLeastExponent - kMantissaBits);
    } else {
      value = std::ldexp(mantissa + (1u << kMantissaBits),
                         static_cast<int>(exponent) - kBias - kMantissaBits);
    }
    return static_cast<float>((bits & kSign) != 0 ? -value : value);
  }

  static Bits encode(Acc value) {
    if (std::isnan(value)) return kNan;
    const unsigned sign = std::signbit(value) ? kSign : 0;
    const double magnitude = std::fabs(static_cast<double>(value));
    unsigned bits = 0;
    if (std::isinf(magnitude)) {
      bits = kTopIsFinite ? kGreatest : kInfinity;
    } else if (magnitude > 0) {
      // In units of the last digit, rounded; a carry moves on to the next exponent by itself.
      const int exponent = std::max(std::ilogb(magnitude), kLeastExponent);
      const double units = std::nearbyint(std::ldexp(magnitude, kMantissaBits - exponent));
      const double code = std::ldexp(exponent - kLeastExponent, kMantissaBits) + units;
      bits = code > kGreatest ? (kSaturate ? kGreatest : kInfinity) : static_cast<unsigned>(code);
    }
    return static_cast<Bits>(sign | bits);
  }
};

template <class T>
struct Integer {
  using Stored = T;
  using Acc = T;
  static constexpr bool kSaturates = false;
  static Acc decode(T value) { return value; }
  static T encode(Acc value) { return value; }
};

using F64 = NativeFloat<double, std::uint64_t, 0x7FF8000000000000u>;
using F32 = NativeFloat<float, std::uint32_t, 0x7FC00000u>;
using F16 = SmallFloat<std::uint16_t, 10, 15, 0x7E00, false, false>;
using Bf16 = SmallFloat<std::uint16_t, 7, 127, 0x7FC0, false, false>;
using E4m3 = SmallFloat<std::uint8_t, 3, 7, 0x7F, true, true>;
using E5m2 = SmallFloat<std::uint8_t, 2, 15, 0x7E, false, true>;

// --- Operations ----------------------------------------------------------------------------------

enum class Op { sum, product, min, max };

template <class T>
T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}

template <class T>
T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

template <class Type, Op kOp>
typename Type::Acc combine(typename Type::Acc a, typename Type::Acc b) {
  using T = typename Type::Acc;
  if constexpr (kOp == Op::min) return minimum(a, b);
  if constexpr (kOp == Op::max) return maximum(a, b);
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if constexpr (kOp == Op::sum) return static_cast<T>(x + y);
    if constexpr (kOp == Op::product) return static_cast<T>(x * y);
  } else {
    if constexpr (kOp == Op::sum) return a + b;
    if constexpr (kOp == Op::product) {
      const T product = a * b;
      // Only an infinite factor makes an infinite product where results saturate.
      if (Type::kSaturates && std::isinf(product) && !std::isinf(a) && !std::isinf(b)) {
        return std::copysign(std::numeric_limits<T>::max(), product);
      }
      return product;
    }
  }
}

template <class T>
T divide(T value, std::uint32_t by) {
  if constexpr (std::is_floating_point_v<T>) {
    return value / static_cast<T>(by);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(value) / static_cast<std::int64_t>(by));
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value) / by);
  }
}

template <class Type, Op kOp>
void reduce_all(const void* const* inputs, std::size_t input_count, void* out, std::size_t count,
                std::uint32_t divide_by) {
  using Stored = typename Type::Stored;
  const bool divides = kOp == Op::sum && divide_by > 1;
  if (input_count == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (input_count == 1 && !divides) {
      store<Stored>(out, i, load<Stored>(inputs[0], i));
      continue;
    }
    auto acc = Type::decode(load<Stored>(inputs[0], i));
    for (std::size_t j = 1; j < input_count; ++j) {
      acc = combine<Type, kOp>(acc, Type::decode(load<Stored>(inputs[j], i)));
    }
    store<Stored>(out, i, Type::encode(divides ? divide(acc, divide_by) : acc));
  }
}

template <class Type>
constexpr TypeKernels kernels_of(DataType type) {
  return {type, reduce_all<Type, Op::sum>, reduce_all<Type, Op::product>, reduce_all<Type, Op::min>,
          reduce_all<Type, Op::max>};
}

constexpr TypeKernels kTypes[] = {
    kernels_of<F64>(DataType::f64),
    kernels_of<F32>(DataType::f32),
    kernels_of<F16>(DataType::f16),
    kernels_of<Bf16>(DataType::bf16),
    kernels_of<E4m3>(DataType::f8e4m3),
    kernels_of<E5m2>(DataType::f8e5m2),
    kernels_of<Integer<std::int8_t>>(DataType::i8),
    kernels_of<Integer<std::uint8_t>>(DataType::u8),
    kernels_of<Integer<std::int32_t>>(DataType::i32),
    kernels_of<Integer<std::uint32_t>>(DataType::u32),
    kernels_of<Integer<std::int64_t>>(DataType::i64),
    kernels_of<Integer<std::uint64_t>>(DataType::u64),
};
static_assert(std::size(kTypes) == kDataTypeCount);

}  // namespace

const Family& scalar_family() noexcept {
  static const Family family = {"SCALAR", kTypes};
  return family;
}

}  // namespace sircl::reduce
