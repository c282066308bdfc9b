#include "topology/placement.hpp"

#include <fmt/format.h>

#include <numeric>

namespace sircl::topology {

Placement Placement::identity(int size) {
  std::vector<int> numbers(static_cast<std::size_t>(size));
  std::iota(numbers.begin(), numbers.end(), 0);
  return {numbers, numbers};
}

Result<Placement> Placement::from_positions(std::span<const int> position_of_rank) {
  constexpr int kNobody = -1;
  const int size = static_cast<int>(position_of_rank.size());
  std::vector<int> ranks(position_of_rank.size(), kNobody);
  for (int rank = 0; rank < size; ++rank) {
    const int position = position_of_rank[static_cast<std::size_t>(rank)];
    if (position < 0 || position >= size) {
      return {StatusCode::invalid_argument,
              fmt::format("rank {} is at position {}, but there are only positions 0 to {}", rank,
                          position, size - 1)};
    }
    int& holder = ranks[static_cast<std::size_t>(position)];
    if (holder != kNobody) {
      return {StatusCode::invalid_argument,
              fmt::format("ranks {} and {} are both at position {}", holder, rank, position)};
    }
    holder = rank;
  }
  return Placement({position_of_rank.begin(), position_of_rank.end()}, std::move(ranks));
}

}  // namespace sircl::topology
