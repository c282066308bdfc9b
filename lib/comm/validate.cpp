#include "comm/validate.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace sircl::detail {

Status check_type(const char* call, DataType type, ReduceOp op) {
  if (size_of(type) == 0) {
    return {StatusCode::invalid_argument,
            fmt::format("{}: {} is not an element type; use a value of DataType", call,
                        static_cast<int>(type))};
  }
  if (static_cast<int>(op) >= kReduceOpCount) {
    return {StatusCode::invalid_argument,
            fmt::format("{}: {} is not an operation; use a value of ReduceOp", call,
                        static_cast<int>(op))};
  }
  return {};
}

Status check_rank(const char* call, const char* what, int rank, int ranks) {
  if (rank >= 0 && rank < ranks) return {};
  return {StatusCode::invalid_argument,
          fmt::format("{}: {} {} is not a rank of this communicator; use 0 to {}", call, what, rank,
                      ranks - 1)};
}

Status check_count(const char* call, std::size_t count, std::size_t blocks, DataType type) {
  if (blocks == 0 || count <= (SIZE_MAX >> 1) / size_of(type) / blocks) return {};
  return {StatusCode::invalid_argument,
          fmt::format("{}: count {} is larger than memory can be; it is in elements of {}", call,
                      count, to_string(type))};
}

Status check_buffers(const BufferCheck& check, DataType type) {
  if ((check.in == nullptr && check.in_elements > 0) ||
      (check.out == nullptr && check.out_elements > 0)) {
    return {StatusCode::invalid_argument,
            fmt::format("{}: {} is null but {} elements are to be {}", check.call,
                        check.in == nullptr && check.in_elements > 0 ? "in" : "out",
                        check.in == nullptr && check.in_elements > 0 ? check.in_elements
                                                                     : check.out_elements,
                        check.in == nullptr && check.in_elements > 0 ? "read" : "written")};
  }
  if (check.in_elements == 0 || check.out_elements == 0) return {};
  const std::size_t element = size_of(type);
  const auto in = reinterpret_cast<std::uintptr_t>(check.in);
  const auto out = reinterpret_cast<std::uintptr_t>(check.out);
  const bool apart =
      in + check.in_elements * element <= out || out + check.out_elements * element <= in;
  const bool in_place = in + check.in_place_in * element == out + check.in_place_out * element;
  if (apart || in_place) return {};
  return {StatusCode::invalid_argument,
          fmt::format("{}: in and out overlap but are not in place; see the in-place rule of {} in "
                      "communicator.hpp",
                      check.call, check.call)};
}

}  // namespace sircl::detail
