// Symbolic buffers for the checker, kept as runs of elements so that their size does not matter.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/contributions.hpp"

namespace sircl::schedule {

/// What one element holds: contributions to element `offset` of block `block` of the operation.
struct Value {
  Contributions::Id contributions = 0;
  std::uint32_t block = 0;
  std::uint64_t offset = 0;
  bool operator==(const Value&) const = default;
};

/// `count` elements from `begin`; the element at begin + i holds `first` with its offset plus i.
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
  Value first;
  bool operator==(const Run&) const = default;

  [[nodiscard]] std::uint64_t end() const { return begin + count; }
  [[nodiscard]] Value at(std::uint64_t position) const {
    return {first.contributions, first.block, first.offset + (position - begin)};
  }
};

/// Appends, joining with the last run where it simply continues.
void append_run(std::vector<Run>& runs, const Run& run);

/// A buffer of `size` elements, of which some have been written.
class Memory {
 public:
  explicit Memory(std::uint64_t size = 0) : size_(size) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The runs of [offset, offset + count) counted from 0; they leave gaps where nothing was
  /// written.
  [[nodiscard]] std::vector<Run> read(std::uint64_t offset, std::uint64_t count) const;
  /// Writes runs counted from 0 at `offset`.
  void write(std::uint64_t offset, std::uint64_t count, const std::vector<Run>& runs);
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  std::uint64_t size_;
  std::vector<Run> runs_;  ///< sorted, disjoint
};

}  // namespace sircl::schedule
