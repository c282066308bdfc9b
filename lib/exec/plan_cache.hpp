// Compiled schedules of shapes seen before, so that a repeated operation allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/board_plan.hpp"
#include "exec/operation.hpp"

namespace sircl::exec {

class PlanCache {
 public:
  /// `half_bytes`: what a plan may publish.
  PlanCache(int rank, int ranks, std::size_t half_bytes)
      : rank_(rank), ranks_(ranks), half_bytes_(half_bytes), entries_(kEntries) {}

  /// The plan for the elements [begin, begin + length) of every block. Valid until the next call.
  Result<const BoardPlan*> plan_for(const Operation& operation, std::size_t begin,
                                    std::size_t length);

 private:
  struct Key {
    std::uint8_t collective = 0, algorithm = 0, element_bytes = 0;
    int root = 0;
    std::uint64_t count = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::unique_ptr<BoardPlan> plan;
  };

  static constexpr std::size_t kEntries = 64;
  int rank_;
  int ranks_;
  std::size_t half_bytes_;
  std::vector<Entry> entries_;           ///< direct-mapped by key
  std::unique_ptr<BoardPlan> odd_plan_;  ///< of unequal blocks, built anew each time
  std::vector<std::uint64_t> counts_;    ///< reused
};

}  // namespace sircl::exec
