// The kernels of one instruction-set target, and how the type families hand theirs in. Internal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "reduce/reduce.hpp"

namespace sircl::reduce {

/// The kernels of one type. An average is the sum kernel with a divisor.
struct TypeKernels {
  DataType type;
  Kernel sum;
  Kernel product;
  Kernel min;
  Kernel max;
};

/// Types whose kernels are compiled together, for one target.
struct Family {
  const char* target;  ///< the target's name, as compiled inside its own namespace
  std::span<const TypeKernels> types;
};

/// The families of one Highway target (one bit of hwy::SupportedTargets()); null where this build
/// does not have it.
const Family* simd_float_family(std::int64_t target) noexcept;
const Family* simd_half_family(std::int64_t target) noexcept;
const Family* simd_f8_family(std::int64_t target) noexcept;
const Family* simd_integer_family(std::int64_t target) noexcept;
/// All types in plain C++: the reference for the others, and the fallback.
const Family& scalar_family() noexcept;

inline constexpr std::size_t kFamilyCount = 4;
inline constexpr std::size_t kKernelOps = 4;  // sum, product, min, max

/// All kernels of one target.
struct KernelTable {
  const char* name = nullptr;
  /// The name that each family was compiled with; all equal `name`.
  std::array<const char*, kFamilyCount> family_targets{};
  std::array<std::array<Kernel, kKernelOps>, kDataTypeCount> kernels{};
};

/// The table that kernel() reads now.
[[nodiscard]] const KernelTable& active_table() noexcept;

}  // namespace sircl::reduce
