#include "comm/cables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "comm/agreement.hpp"
#include "transport/tcp/tcp_cabling.hpp"

namespace sircl::detail {
namespace {

using topology::LaneEnd;
using topology::LayoutLane;

std::string describe(const LaneEnd& end) {
  return fmt::format("rank {} {} ({})", end.rank, end.interface, end.address);
}

/// The lanes that end at this rank, and their place in the layout.
struct OwnLanes {
  std::vector<transport::LaneSpec> specs;
  std::vector<std::size_t> places;
};

OwnLanes own_lanes(const topology::Layout& layout, int rank,
                   const std::vector<std::shared_ptr<transport::Window>>& windows) {
  OwnLanes own;
  for (std::size_t i = 0; i < layout.lanes.size(); ++i) {
    const LayoutLane& lane = layout.lanes[i];
    if (lane.west.rank != rank && lane.east.rank != rank) continue;
    const bool at_west = lane.west.rank == rank;
    const LaneEnd& mine = at_west ? lane.west : lane.east;
    const LaneEnd& other = at_west ? lane.east : lane.west;
    transport::LaneSpec spec;
    spec.peer = other.rank;
    spec.cable = lane.cable;
    spec.name = fmt::format("lane {} - {}", describe(mine), describe(other));
    spec.interface = mine.interface;
    spec.local = mine.address;
    spec.remote = other.address;
    spec.calls = !at_west;
    spec.window = windows[static_cast<std::size_t>(other.rank)];
    own.specs.push_back(std::move(spec));
    own.places.push_back(i);
  }
  return own;
}

/// Every rank says a line per lane of the layout; what the other end of each own lane said.
Result<std::vector<std::string>> exchange_by_lane(bootstrap::Member& member,
                                                  const topology::Layout& layout,
                                                  const OwnLanes& own,
                                                  const std::vector<std::string>& mine,
                                                  const std::string& label) {
  std::vector<std::string> lines(layout.lanes.size());
  for (std::size_t i = 0; i < own.places.size(); ++i) lines[own.places[i]] = mine[i];
  const auto all = exchange(member, fmt::format("{}\n", fmt::join(lines, "\n")), label);
  if (!all) return all.status();
  std::vector<std::string> theirs;
  for (std::size_t i = 0; i < own.places.size(); ++i) {
    std::istringstream text((*all)[static_cast<std::size_t>(own.specs[i].peer)]);
    std::string line;
    for (std::size_t place = 0; place <= own.places[i]; ++place) std::getline(text, line);
    theirs.push_back(line);
  }
  return theirs;
}

}  // namespace

Result<Cables> connect_cables(bootstrap::Member& member, const CablesOptions& options,
                              const topology::Layout& layout) {
  relay::NetworkOptions network;
  network.fabric = layout.fabric;
  network.placement = layout.placement;
  network.rank = options.rank;
  network.shape = options.shape;
  network.far_shape = options.far_shape;
  auto windows = relay::make_windows(network);
  OwnLanes own = own_lanes(layout, options.rank, windows);

  transport::tcp::CablingOptions how;
  how.rank = options.rank;
  how.token = options.token;
  how.timeout = options.timeout;
  how.cancelled = options.cancelled;
  auto cabling = transport::tcp::listen_on_cables(how, own.specs);
  if (Status status = agree(member, cabling.status(), "listen on cables"); !status.ok()) {
    return status;
  }
  const auto remote =
      exchange_by_lane(member, layout, own, (*cabling)->addresses(), "addresses of lanes");
  if (!remote) return remote.status();
  const Status connected = (*cabling)->connect(*remote);
  // The others wait for a call: they must hear that it will not come.
  if (!connected.ok() && !(options.cancelled && options.cancelled())) {
    return member.report_failure(connected);
  }
  if (Status status = agree(member, connected, "connect cables"); !status.ok()) return status;

  Cables cables;
  cables.network = relay::Network::make(network, std::move(windows), *std::move(cabling));
  // A round over TCP and the processor's part of a byte; what a byte takes on the wire is measured.
  cables.costs = {.alpha_us = 60, .beta_us_per_byte = 1.0 / 30, .gamma_us_per_byte = 1.0 / 8000};
  return cables;
}

}  // namespace sircl::detail
