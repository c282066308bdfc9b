// Reduction kernels: combine N buffers element by element. Pure: no I/O, no allocation, no locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sircl/status.hpp"
#include "sircl/types.hpp"

namespace sircl::reduce {

/// out[i] = round(finish(in[0][i] op in[1][i] op ... op in[n-1][i])), combined from left to right.
///
/// 16- and 8-bit floats are accumulated in f32 and rounded once, to nearest even; f32 and f64 are
/// accumulated in their own type. `divide_by` > 1 divides before that rounding (average); only the
/// sum kernels look at it. With one input and nothing to divide it is a copy. `out` may be exactly
/// one of the inputs, but must not overlap one otherwise. Any alignment. The numeric rules are
/// those of sircl/types.hpp.
using Kernel = void (*)(const void* const* inputs, std::size_t input_count, void* out,
                        std::size_t count, std::uint32_t divide_by);

/// The kernel for one type and operation on the active target. ReduceOp::average is the sum kernel
/// (the caller passes divide_by only on the final step). Never null for valid enumerators.
[[nodiscard]] Kernel kernel(DataType type, ReduceOp op) noexcept;

/// Copies that bypass the caches where the machine has such stores; else memcpy. For destinations
/// that are much larger than the last cache level that the next reader would find them in.
void copy_streaming(void* out, const void* in, std::size_t bytes) noexcept;

/// Instruction-set targets compiled in and supported by this processor, best first
/// ("AVX3", "AVX2", "SSE4", "SCALAR"; "SVE2_128", "SVE2", "NEON", "SCALAR").
[[nodiscard]] std::vector<std::string> available_targets();
/// The target whose kernels kernel() returns now.
[[nodiscard]] std::string active_target();
/// Makes kernel() return the kernels of `name` (any case) from now on; "" or "auto" returns to the
/// best. An unknown or unsupported name changes nothing and lists the available ones. Not for use
/// during an operation.
[[nodiscard]] Status force_target(std::string_view name);

}  // namespace sircl::reduce
