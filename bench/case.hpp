// Buffers of one measurement: inputs with predictable exact results, and the check of every output
// element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "request.hpp"

namespace sircl::bench {

/// The values repeat with a prime period, so that a block at a wrong place is seen. What is reduced
/// consists of numbers whose partial results are exact in the type, in any order; what is only
/// moved are arbitrary bytes.
class Case {
 public:
  /// Bytes that `in` and `out` need. In place both are the same memory.
  [[nodiscard]] static std::size_t in_bytes(const Shape& shape, int ranks);
  [[nodiscard]] static std::size_t out_bytes(const Shape& shape, int ranks);

  /// Allocates the buffers.
  Case(const Shape& shape, int rank, int ranks);
  /// Uses memory of the caller.
  Case(const Shape& shape, int rank, int ranks, std::byte* in, std::byte* out);

  Case(Case&&) noexcept = default;  // the buffers stay where they are
  Case& operator=(Case&&) = delete;

  /// Writes the inputs and a pattern that is no result into the outputs.
  void fill();
  /// Elements of this rank's output that differ from the expected ones.
  [[nodiscard]] std::uint64_t wrong() const;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t count() const { return shape_.count(ranks_); }
  /// Pointers for the call; for an in-place case they are as the API wants them.
  [[nodiscard]] const std::byte* in() const { return in_; }
  [[nodiscard]] std::byte* out() const { return out_; }

 private:
  void place(std::byte* in, std::byte* out);
  void make_tables();
  [[nodiscard]] const std::vector<std::byte>& moved_from(int rank) const {
    return inputs_[static_cast<std::size_t>(rank)];
  }

  Shape shape_;
  int rank_;
  int ranks_;
  std::vector<std::byte> memory_;
  std::byte* in_ = nullptr;
  std::byte* out_ = nullptr;
  std::vector<std::vector<std::byte>> inputs_;  ///< one period of each rank's input
  std::vector<std::byte> reduced_;              ///< one period of the reduced values
};

}  // namespace sircl::bench
