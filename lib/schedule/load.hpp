// What programs put on every cable, and what they may.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace sircl::schedule {

/// One direction between two ranks. On a ring or path that is one direction of one cable (two ranks
/// have one cable, also where a ring of two sends both its halves over it).
struct DirectionLoad {
  int from = 0;
  int to = 0;
  std::uint64_t elements = 0;
  std::uint64_t messages = 0;
  std::vector<std::uint64_t> elements_by_round;
};

struct Load {
  std::vector<DirectionLoad> directions;     ///< those that carry a message, sorted by (from, to)
  std::vector<std::uint64_t> elements_sent;  ///< per rank, to all others together
  std::vector<std::uint64_t> elements_combined;  ///< per rank: additions
  int rounds = 0;

  /// The most that any one direction carries in the whole and in any one round.
  [[nodiscard]] std::uint64_t max_elements() const;
  [[nodiscard]] std::uint64_t max_elements_in_a_round() const;
  /// What one direction carries, in bytes.
  [[nodiscard]] std::uint64_t bytes(int from, int to, std::size_t element_bytes) const;
};

Load measure(std::span<const Program> programs);

/// The bound of an algorithm for one direction of a cable, in elements.
struct Share {
  double total = 0;
  double per_round = 0;
};

/// The share that the table in the README promises, for equal blocks of the largest count; nothing
/// where wires are not shared (mesh). Slices are rounded to kSliceElements; `share_slack` bounds
/// that.
std::optional<Share> share_of(const Request& request);
double share_slack(std::uint64_t messages);

}  // namespace sircl::schedule
