// One collective as the executors see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "sircl/status.hpp"
#include "sircl/types.hpp"
#include "transport/operation_tag.hpp"

namespace sircl::exec {

struct Operation {
  schedule::Collective collective = schedule::Collective::all_reduce;
  schedule::Algorithm algorithm = schedule::Algorithm::direct;
  DataType type = DataType::u8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;            ///< elements per block
  std::vector<std::size_t> counts;  ///< unequal blocks (all_gather), else empty
  transport::OperationTag tag;
};

/// "all_reduce(f32, sum, count 1024)" for messages.
[[nodiscard]] std::string describe(const transport::OperationTag& tag);

/// The one error for ranks that called different things; the same text on both sides.
[[nodiscard]] Status mismatch(int rank, const transport::OperationTag& mine, int peer,
                              const transport::OperationTag& other);

/// The largest block of the operation, in elements.
[[nodiscard]] std::size_t longest_block(const Operation& operation) noexcept;

/// What schedule::build is asked for the elements [begin, begin + length) of every block.
void fill_piece_counts(const Operation& operation, int ranks, std::size_t begin, std::size_t length,
                       std::vector<std::uint64_t>& counts);

/// Turns ranges of a piece into addresses.
class Addresses {
 public:
  Addresses(const Operation& operation, std::byte* scratch);
  void begin_piece(std::size_t first_element) noexcept { piece_ = first_element; }
  [[nodiscard]] std::byte* operator()(const schedule::Range& range) const noexcept;
  /// Bytes from the start of the range's buffer; the same on every rank.
  [[nodiscard]] std::size_t offset(const schedule::Range& range) const noexcept;
  [[nodiscard]] std::byte* operator()(const schedule::Range& range,
                                      std::size_t extra) const noexcept {
    return (*this)(range) + extra * element_;
  }

 private:
  const Operation& operation_;
  std::byte* scratch_;
  std::size_t element_;
  std::size_t piece_ = 0;
  bool wide_input_;
  bool wide_output_;
};

}  // namespace sircl::exec
