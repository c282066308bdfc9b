// Who sits where on the cables, and where who sits.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::schedule {

class Positions {
 public:
  /// An empty `rank_at_position`: position = rank. invalid_argument unless each rank occurs once.
  static Result<Positions> from(std::span<const int> rank_at_position, int size);

  [[nodiscard]] int rank(int position) const { return ranks_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] int position(int rank) const { return positions_[static_cast<std::size_t>(rank)]; }

 private:
  Positions(std::vector<int> ranks, std::vector<int> positions)
      : ranks_(std::move(ranks)), positions_(std::move(positions)) {}
  std::vector<int> ranks_;      ///< by position
  std::vector<int> positions_;  ///< by rank
};

}  // namespace sircl::schedule
