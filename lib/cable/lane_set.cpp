#include "cable/lane_set.hpp"

namespace sircl::cable {

int LaneSet::choose(std::size_t bytes) noexcept {
  if (alone()) return first().can_put() ? 0 : kNone;
  int best = kNone;
  double best_time = 0;
  bool best_spare = true;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    transport::Lane& lane = *lanes_[i];
    if (lane.failed()) continue;
    const double time = static_cast<double>(lane.backlog() + bytes) * lane.seconds_per_byte();
    const bool better = lane.spare() == best_spare ? best == kNone || time < best_time : best_spare;
    if (!better) continue;
    best = static_cast<int>(i);
    best_time = time;
    best_spare = lane.spare();
  }
  // A lane that is full for the moment may still be the one to wait for.
  return best != kNone && (*this)[best].can_put() ? best : kNone;
}

bool LaneSet::progress() noexcept {
  bool moved = false;
  for (transport::Lane* lane : lanes_) moved = lane->progress() || moved;
  return moved;
}

bool LaneSet::failed() const noexcept {
  for (const transport::Lane* lane : lanes_) {
    if (!lane->failed()) return false;
  }
  return true;
}

std::uint64_t LaneSet::losses() const noexcept {
  std::uint64_t sum = 0;
  for (const transport::Lane* lane : lanes_) sum += lane->losses();
  return sum;
}

}  // namespace sircl::cable
