#include "comm/fabric_setup.hpp"

#include <algorithm>
#include <cstring>

#include "comm/cables.hpp"
#include "relay/part.hpp"

namespace sircl::detail {
namespace {

constexpr std::uint32_t kFarSlots = 32;  // of channels through relays: as much as both ways hold

schedule::Wiring wiring_of(topology::FabricKind kind) {
  return kind == topology::FabricKind::path ? schedule::Wiring::path : schedule::Wiring::ring;
}

CablesOptions cables_options(const Setup& setup, const std::string& token) {
  const auto slots = static_cast<std::uint32_t>(setup.settings.integer("SIRCL_CABLE_SLOTS"));
  const auto slot_bytes =
      static_cast<std::uint32_t>(setup.settings.integer("SIRCL_CABLE_SLOT_BYTES"));
  CablesOptions how;
  how.rank = setup.launch.rank;
  how.shape = cable::window_shape(slots, slot_bytes);
  how.far_shape = cable::window_shape(std::min(slots, kFarSlots), slot_bytes);
  how.timeout = setup.settings.duration("SIRCL_STARTUP_WAIT_S");
  std::memcpy(how.token.data(), token.data(), how.token.size());
  return how;
}

void choose_by(const Setup& setup, EngineOptions& options, const CablesOptions& how,
               const exec::Order& order) {
  options.shape = how.shape;
  options.far_slots = how.far_shape.slots;
  options.order = order;
  options.selection.wiring = order.wiring;
  options.selection.exact = setup.settings.text("SIRCL_NUMERICS") == "exact";
  options.selection.costs = setup.cables->costs;
}

/// All ranks of the group are on the fabric: it agrees by itself on which cables work.
void follow_whole(Setup& setup, EngineOptions& options, std::shared_ptr<CableKeeper> keeper,
                  relay::Network& network) {
  network.set_on_cable([keeper](int cable, bool up, const std::string& reason) {
    keeper->report(cable, up, reason);
  });
  keeper->attach(network);
  options.fabric = keeper->state();
  options.tend = [keeper] { return keeper->tend(); };
  setup.cables->state = keeper->state();
}

exec::Order order_of(const topology::Layout& layout) {
  exec::Order order{wiring_of(layout.fabric.kind), {}};
  for (int position = 0; position < layout.fabric.size; ++position) {
    order.rank_at_position.push_back(layout.placement.rank(position));
  }
  return order;
}

/// Ranks of a part in the order in which they stand on the fabric, beginning behind the widest gap.
std::vector<int> along_the_fabric(const topology::Layout& layout, const std::vector<int>& ranks) {
  std::vector<int> members(ranks.size());
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = static_cast<int>(i);
  const auto position = [&](int member) {
    return layout.placement.position(ranks[static_cast<std::size_t>(member)]);
  };
  std::sort(members.begin(), members.end(),
            [&](int a, int b) { return position(a) < position(b); });
  const int size = layout.fabric.size;
  std::size_t first = 0;
  int widest = layout.fabric.kind == topology::FabricKind::ring
                   ? (position(members.front()) - position(members.back()) + size) % size
                   : size;
  for (std::size_t i = 1; i < members.size(); ++i) {
    const int gap = position(members[i]) - position(members[i - 1]);
    if (gap > widest) first = i;
    widest = std::max(widest, gap);
  }
  std::rotate(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(first), members.end());
  return members;
}

bool neighbours(const topology::Layout& layout, int rank, int other) {
  return topology::adjacent(layout.fabric, layout.placement.position(rank),
                            layout.placement.position(other));
}

/// The layout with the numbers that the ranks have in a part of as many.
topology::Layout renumbered(topology::Layout layout, const std::vector<int>& ranks) {
  std::vector<int> positions(ranks.size());
  std::vector<int> number(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    positions[i] = layout.placement.position(ranks[i]);
    number[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
  }
  layout.placement = *topology::Placement::from_positions(positions);
  for (topology::LayoutLane& lane : layout.lanes) {
    lane.west.rank = number[static_cast<std::size_t>(lane.west.rank)];
    lane.east.rank = number[static_cast<std::size_t>(lane.east.rank)];
  }
  return layout;
}

}  // namespace

Result<std::unique_ptr<transport::Transport>> connect_fabric(Setup& setup, EngineOptions& options,
                                                             const std::string& token,
                                                             NoticeBox& box,
                                                             const topology::Layout& layout) {
  CablesOptions how = cables_options(setup, token);
  how.cancelled = [&box] { return box.failed(); };
  auto keeper = CableKeeper::start(*setup.member, layout);
  auto cables = connect_cables(*setup.member, how, layout);
  if (!cables) return cables.status();
  setup.cables = std::make_unique<FabricOfGroup>(
      FabricOfGroup{layout, token, cables->costs, nullptr, cables->network.get()});
  choose_by(setup, options, how, order_of(layout));
  follow_whole(setup, options, std::move(keeper), *cables->network);
  return std::unique_ptr<transport::Transport>(std::move(cables->network));
}

Result<FabricPart> connect_part(Setup& whole, std::vector<int> ranks) {
  const FabricOfGroup& fabric = *whole.cables;
  CablesOptions how = cables_options(whole, fabric.token);
  how.cancelled = [&whole] { return whole.engine->failure().failed(); };
  how.measure = false;
  auto cables = connect_cables(*whole.member, how, fabric.layout);
  if (!cables) return cables.status();
  FabricPart part;
  part.network = std::move(cables->network);
  part.ranks = std::move(ranks);
  part.fabric = fabric;
  return part;
}

std::unique_ptr<transport::Transport> use_part(Setup& setup, EngineOptions& options,
                                               FabricPart part) {
  const topology::Layout& layout = part.fabric.layout;
  const auto size = static_cast<int>(part.ranks.size());
  relay::Network& network = *part.network;
  setup.cables = std::make_unique<FabricOfGroup>(part.fabric);
  setup.cables->network = &network;
  const CablesOptions how = cables_options(setup, part.fabric.token);
  if (size == layout.fabric.size) {
    setup.cables->layout = renumbered(layout, part.ranks);
    choose_by(setup, options, how, order_of(setup.cables->layout));
    follow_whole(setup, options, CableKeeper::start(*setup.member, setup.cables->layout), network);
  } else {
    setup.cables->whole = false;
    exec::Order order{schedule::Wiring::ring, along_the_fabric(layout, part.ranks)};
    const auto rank_at = [&](int at) {
      return part.ranks[static_cast<std::size_t>(
          order.rank_at_position[static_cast<std::size_t>(at % size)])];
    };
    bool run = true;  // each is cabled to the next
    for (int i = 0; i + 1 < size; ++i) run = run && neighbours(layout, rank_at(i), rank_at(i + 1));
    if (run && size > 2) order.wiring = schedule::Wiring::path;
    choose_by(setup, options, how, order);
    if (!run) options.shape = how.far_shape;
    const auto follower = std::make_shared<CableFollower>(part.fabric.state, network);
    options.tend = [follower] { return follower->tend(); };
  }
  return std::make_unique<relay::Part>(std::move(part.network), std::move(part.ranks));
}

std::shared_ptr<Engine> serve_alone(const Setup& whole, FabricPart part) {
  EngineOptions options;
  options.waiter.ranks = 1;
  options.shape = cables_options(whole, part.fabric.token).far_shape;
  const auto follower = std::make_shared<CableFollower>(part.fabric.state, *part.network);
  options.tend = [follower] { return follower->tend(); };
  auto transport = std::make_unique<relay::Part>(std::move(part.network), std::move(part.ranks));
  return std::make_shared<Engine>(options, std::move(transport), nullptr);
}

}  // namespace sircl::detail
