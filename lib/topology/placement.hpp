// Which rank sits at which position: users number ranks as they like.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::topology {

/// A permutation of 0..size-1 and its inverse.
class Placement {
 public:
  /// Rank r at position r.
  static Placement identity(int size);
  /// position_of_rank[r] is the position of rank r. Fails unless each position occurs once.
  static Result<Placement> from_positions(std::span<const int> position_of_rank);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(positions_.size()); }
  [[nodiscard]] int position(int rank) const { return positions_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int rank(int position) const { return ranks_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] std::span<const int> positions() const noexcept { return positions_; }
  bool operator==(const Placement&) const = default;

 private:
  Placement(std::vector<int> positions, std::vector<int> ranks)
      : positions_(std::move(positions)), ranks_(std::move(ranks)) {}
  std::vector<int> positions_;  ///< by rank
  std::vector<int> ranks_;      ///< by position
};

}  // namespace sircl::topology
