// Checks of arguments before anything is started: one clear error that names the argument.
#pragma once

#include <cstddef>
#include <span>

#include "sircl/status.hpp"
#include "sircl/types.hpp"

namespace sircl::detail {

struct BufferCheck {
  const char* call;  ///< "all_reduce"
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t in_elements = 0;  ///< 0: not used here
  std::size_t out_elements = 0;
  std::size_t in_place_in = 0;   ///< elements from `in` at which an in-place output may begin
  std::size_t in_place_out = 0;  ///< elements from `out` at which an in-place input may begin
};

Status check_type(const char* call, DataType type, ReduceOp op = ReduceOp::sum);
Status check_rank(const char* call, const char* what, int rank, int ranks);
/// ranks * count * element bytes fits memory.
Status check_count(const char* call, std::size_t count, std::size_t blocks, DataType type);
/// Buffers that are used are there, and overlap only as in-place use allows.
Status check_buffers(const BufferCheck& check, DataType type);

}  // namespace sircl::detail
