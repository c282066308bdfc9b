#include "comm/fabric_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sircl::detail {

using topology::FabricKind;

FabricState::FabricState(const topology::Layout& layout) : layout_(layout) {}

std::uint64_t FabricState::prepare(const std::vector<bool>& up) {
  {
    const std::lock_guard lock(mutex_);
    heard_up_ = up;
    heard_.fetch_add(1, std::memory_order_release);
  }
  // Either an operation sees the limit before it starts, or it is seen here to have started: both
  // sides write first and then read, in one order for all (sequentially consistent).
  std::uint64_t limit = 0;
  do {
    limit = started_.load() + kAhead;
    limit_.store(limit);
  } while (started_.load() >= limit);
  return limit;
}

void FabricState::commit(const std::vector<bool>& up, std::uint64_t from) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back({up, from});
  }
  // Before the limit goes: whoever gets past it sees the change.
  news_.store(true);
  limit_.store(kNoLimit);
}

bool FabricState::may_start(std::uint64_t sequence) noexcept {
  started_.store(sequence);
  return sequence < limit_.load();
}

std::optional<exec::Order> FabricState::change_before(std::uint64_t sequence) {
  if (!news_.load()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  std::optional<exec::Order> order_now;
  while (!changes_.empty() && changes_.front().from <= sequence) {
    order_now = order(changes_.front().up);
    changes_.pop_front();
  }
  news_.store(!changes_.empty());
  return order_now;
}

std::optional<std::vector<bool>> FabricState::heard(std::uint64_t& seen) {
  if (heard_.load(std::memory_order_acquire) == seen) return std::nullopt;
  const std::lock_guard lock(mutex_);
  seen = heard_.load(std::memory_order_relaxed);
  return heard_up_;
}

exec::Order FabricState::order(const std::vector<bool>& up) const {
  exec::Order order;
  const int size = layout_.fabric.size;
  int first = 0;
  order.wiring =
      layout_.fabric.kind == FabricKind::path ? schedule::Wiring::path : schedule::Wiring::ring;
  if (layout_.fabric.kind == FabricKind::ring) {
    // What is left begins behind the missing cable.
    const auto cut = std::find(up.begin(), up.end(), false);
    if (cut != up.end()) {
      order.wiring = schedule::Wiring::path;
      first = static_cast<int>(cut - up.begin()) + 1;
    }
  }
  for (int i = 0; i < size; ++i) {
    order.rank_at_position.push_back(layout_.placement.rank((first + i) % size));
  }
  return order;
}

std::string FabricState::partition(const std::vector<bool>& up) const {
  const int size = layout_.fabric.size;
  const bool ring = layout_.fabric.kind == FabricKind::ring;
  const auto down = std::count(up.begin(), up.end(), false);
  if (down < (ring ? 2 : 1)) return {};
  // The pieces, each a run of positions between two missing cables.
  std::vector<std::vector<int>> pieces(1);
  int begin = 0;
  if (ring) begin = static_cast<int>(std::find(up.begin(), up.end(), false) - up.begin()) + 1;
  for (int i = 0; i < size; ++i) {
    const int position = (begin + i) % size;
    pieces.back().push_back(layout_.placement.rank(position));
    const bool last = i + 1 == size;
    if (!last && !up[static_cast<std::size_t>(position)]) pieces.emplace_back();
  }
  std::vector<std::string> texts;
  for (auto& piece : pieces) {
    std::sort(piece.begin(), piece.end());
    texts.push_back(fmt::format("rank{} {}", piece.size() == 1 ? "" : "s", fmt::join(piece, ", ")));
  }
  std::vector<std::string> cables;
  for (const topology::LayoutLane& lane : layout_.lanes) {
    if (up[static_cast<std::size_t>(lane.cable)]) continue;
    cables.push_back(fmt::format("rank {} {} - rank {} {}", lane.west.rank, lane.west.interface,
                                 lane.east.rank, lane.east.interface));
  }
  return fmt::format("no cable is left between {} (down: {}); check these cables",
                     fmt::join(texts, " and "), fmt::join(cables, ", "));
}

}  // namespace sircl::detail
