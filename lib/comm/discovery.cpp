#include "comm/discovery.hpp"

#include <fstream>
#include <sstream>

#include "comm/agreement.hpp"
#include "sys/interface.hpp"

namespace sircl::detail {

// SIRCL_FABRIC_FILE has a line per lane: the cable's number, then RANK:INTERFACE of both ends.
Result<std::optional<topology::Layout>> discover(bootstrap::Member& member,
                                                 const config::Settings& settings, const Hosts&,
                                                 const bootstrap::Launch& launch,
                                                 const std::optional<topology::Fabric>& claimed) {
  const std::string file = settings.text("SIRCL_FABRIC_FILE");
  if (file.empty() || !claimed) return std::optional<topology::Layout>();
  std::ifstream in(file);
  std::string line, mine;
  topology::Layout layout;
  layout.fabric = *claimed;
  std::vector<int> positions(static_cast<std::size_t>(launch.size), -1);
  while (std::getline(in, line)) {
    std::istringstream words(line);
    topology::LayoutLane lane;
    std::string west, east;
    words >> lane.cable >> west >> east;
    const auto end = [&](const std::string& text, topology::LaneEnd& to) {
      const auto colon = text.find(':');
      to.rank = std::stoi(text.substr(0, colon));
      to.interface = text.substr(colon + 1);
    };
    end(west, lane.west);
    end(east, lane.east);
    positions[static_cast<std::size_t>(lane.west.rank)] = lane.cable;
    if (lane.cable + 1 < launch.size)
      positions[static_cast<std::size_t>(lane.east.rank)] = lane.cable + 1;
    const auto& own = lane.west.rank == launch.rank ? lane.west : lane.east;
    if (own.rank == launch.rank) {
      auto address = sys::interface_address("=" + own.interface);
      if (!address) return address.status();
      mine += *address;
    }
    mine += '\n';
    layout.lanes.push_back(lane);
  }
  layout.placement = *topology::Placement::from_positions(positions);
  auto all = exchange(member, mine, "lanes");
  if (!all) return all.status();
  for (std::size_t i = 0; i < layout.lanes.size(); ++i) {
    for (auto* end : {&layout.lanes[i].west, &layout.lanes[i].east}) {
      std::istringstream text((*all)[static_cast<std::size_t>(end->rank)]);
      for (std::size_t k = 0; k <= i; ++k) std::getline(text, end->address);
    }
  }
  return std::optional<topology::Layout>(std::move(layout));
}

}  // namespace sircl::detail
