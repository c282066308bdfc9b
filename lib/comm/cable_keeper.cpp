#include "comm/cable_keeper.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"

namespace sircl::detail {
namespace {

/// "cable 1 (rank 1 p0l0, p0l1 - rank 2 p1l0, p1l1)"
std::string describe(const topology::Layout& layout, int cable) {
  std::vector<std::string> west, east;
  int west_rank = -1, east_rank = -1;
  for (const topology::LayoutLane& lane : layout.lanes) {
    if (lane.cable != cable) continue;
    west_rank = lane.west.rank;
    east_rank = lane.east.rank;
    west.push_back(lane.west.interface);
    east.push_back(lane.east.interface);
  }
  return fmt::format("cable {} (rank {} {} - rank {} {})", cable, west_rank, fmt::join(west, ", "),
                     east_rank, fmt::join(east, ", "));
}

}  // namespace

CableKeeper::CableKeeper(bootstrap::Member& member, const topology::Layout& layout)
    : member_(member),
      layout_(layout),
      state_(std::make_shared<FabricState>(layout)),
      agreed_(static_cast<std::size_t>(topology::cables(layout.fabric)), true) {}

std::shared_ptr<CableKeeper> CableKeeper::start(bootstrap::Member& member,
                                                const topology::Layout& layout) {
  std::shared_ptr<CableKeeper> keeper(new CableKeeper(member, layout));
  bootstrap::CableWatch watch;
  watch.on_prepare = [keeper](const std::vector<bool>& up) { return keeper->state_->prepare(up); };
  watch.on_commit = [keeper](const std::vector<bool>& up, std::uint64_t from) {
    keeper->state_->commit(up, from);
    keeper->log_commit(up, from);
  };
  member.watch_cables(static_cast<int>(keeper->agreed_.size()), std::move(watch));
  return keeper;
}

void CableKeeper::report(int cable, bool up, const std::string& reason) {
  if (!up) log::warn(fmt::format("{} is down: {}", describe(layout_, cable), reason));
  member_.report_cable(cable, up, reason);
}

void CableKeeper::attach(relay::Network& network) {
  network_ = &network;
  follower_ = std::make_unique<CableFollower>(state_, network);
  lane_up_.assign(network.cabling().size(), true);
}

Status CableKeeper::tend() {
  watch_lanes();
  return follower_->tend();
}

// The loss of a cable's last lane is said by report().
void CableKeeper::watch_lanes() {
  transport::Cabling& cabling = network_->cabling();
  for (std::size_t i = 0; i < lane_up_.size(); ++i) {
    const bool up = !cabling.lane(i).failed();
    if (up == lane_up_[i]) continue;
    lane_up_[i] = up;
    const transport::LaneSpec& spec = cabling.spec(i);
    if (up) {
      log::warn(fmt::format("{} works again and carries its part", spec.name));
    } else if (!network_->cable_lost(spec.cable)) {
      log::warn(fmt::format("{}; the other lanes of cable {} carry its part",
                            cabling.lane(i).status().message(), spec.cable));
    }
  }
}

void CableKeeper::log_commit(const std::vector<bool>& up, std::uint64_t from) {
  std::vector<std::string> lost, back;
  for (std::size_t cable = 0; cable < up.size(); ++cable) {
    if (up[cable] == agreed_[cable]) continue;
    (up[cable] ? back : lost).push_back(describe(layout_, static_cast<int>(cable)));
  }
  agreed_ = up;
  std::string text;
  if (!lost.empty()) text += fmt::format("{} is down", fmt::join(lost, ", "));
  if (!back.empty()) {
    text += fmt::format("{}{} works again", text.empty() ? "" : "; ", fmt::join(back, ", "));
  }
  const std::string partition = state_->partition(up);
  const exec::Order order = state_->order(up);
  if (!partition.empty()) {
    text += "; " + partition;
  } else if (order.wiring == schedule::Wiring::path &&
             layout_.fabric.kind == topology::FabricKind::ring) {
    text += fmt::format(
        "; what would cross it goes the other way round, and from operation {} on the ranks work "
        "as the path {}",
        from, fmt::join(order.rank_at_position, "-"));
  } else {
    text += fmt::format("; from operation {} on every cable carries its part", from);
  }
  log::warn(text);
}

}  // namespace sircl::detail
