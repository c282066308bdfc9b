// Numbers for the inputs of reductions, and their encoding in every type.
#pragma once

#include <cstddef>

#include "sircl/types.hpp"

namespace sircl::bench {

/// The value that `rank` contributes at `index`. Partial results over any set of ranks, in any
/// order, are exact in `type`.
[[nodiscard]] double input_value(DataType type, ReduceOp op, int rank, int ranks,
                                 std::size_t index);
/// `left op right`; average adds, the division comes last.
[[nodiscard]] double combine(ReduceOp op, double left, double right);
/// What a reduction leaves in the output.
[[nodiscard]] double finish(DataType type, ReduceOp op, double combined, int ranks);
/// Writes `value`, which `type` can hold exactly, to `element`.
void encode(DataType type, double value, std::byte* element);

}  // namespace sircl::bench
