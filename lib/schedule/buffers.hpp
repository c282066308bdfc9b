// The buffers of one rank as the checker sees them: their blocks, what they hold at first, and
// which of them are the same memory in an in-place call.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/memory.hpp"
#include "schedule/schedule.hpp"

namespace sircl::schedule {

enum class Placement : std::uint8_t { separate, in_place };

class Buffers {
 public:
  static constexpr int kNone = -1;

  Buffers(const Request& request, int rank, std::uint64_t scratch_elements, Placement placement);

  /// Number of the memory behind a block, or kNone if this rank has no such block.
  [[nodiscard]] int find(Buffer buffer, int block) const;
  [[nodiscard]] Memory& memory(int number) { return memories_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] const Memory& memory(int number) const {
    return memories_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] int output_blocks() const { return static_cast<int>(outputs_.size()); }

 private:
  void add_input(std::uint64_t count, int contributor, int home_block);
  void add_output(std::uint64_t count, int same_as_input = kNone);

  Placement placement_;
  std::vector<Memory> memories_;
  std::vector<int> inputs_;
  std::vector<int> outputs_;
  int scratch_ = kNone;
};

}  // namespace sircl::schedule
