#include "relay/network.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>

#include "relay/circuit_lane.hpp"

namespace sircl::relay {
namespace {

using cable::Channel;
using cable::LaneSet;
using cable::Region;
using transport::Lane;
using transport::Window;

constexpr std::chrono::milliseconds kTendEvery{5};
constexpr std::chrono::milliseconds kProbation{500};

/// The two cables that end at a position, and who is behind them.
struct Neighbour {
  int cable = 0;
  int rank = 0;
};

std::vector<Neighbour> neighbours(const NetworkOptions& options) {
  const int position = options.placement.position(options.rank);
  std::vector<Neighbour> found;
  if (options.fabric.kind == topology::FabricKind::pair) {
    return {{0, options.placement.rank(1 - position)}};
  }
  if (const auto east = topology::east(options.fabric, position)) {
    found.push_back({east_cable(options.fabric, position), options.placement.rank(*east)});
  }
  if (const auto west = topology::west(options.fabric, position)) {
    found.push_back({west_cable(options.fabric, position), options.placement.rank(*west)});
  }
  return found;
}

/// Hops lie behind the channels of the two neighbours themselves.
Region hop_region(const NetworkOptions& options, std::size_t index) {
  Region region{0, options.hop_slots, hop_slot_bytes(options.shape.slot_bytes)};
  const std::size_t first = (options.shape.window_bytes + 63) / 64 * 64;
  region.offset = first + index * region.bytes();
  return region;
}

class NetworkImpl final : public Network {
 public:
  NetworkImpl(const NetworkOptions& options, std::vector<std::shared_ptr<Window>> windows,
              std::unique_ptr<transport::Cabling> cabling)
      : options_(options),
        windows_(std::move(windows)),
        cabling_(std::move(cabling)),
        direct_(windows_.size()),
        circuits_(windows_.size()),
        cable_up_(static_cast<std::size_t>(topology::cables(options.fabric)), true) {
    for (std::size_t i = 0; i < cabling_->size(); ++i) {
      direct_[static_cast<std::size_t>(cabling_->spec(i).peer)].push_back(&cabling_->lane(i));
    }
    for (const Neighbour& neighbour : neighbours(options_)) {
      add_hops(neighbour);
      own_cables_.push_back({neighbour.cable, true, {}});
    }
    const int position = options_.placement.position(options_.rank);
    for (auto& [key, hops] : hops_) {
      const Circuit& circuit = hops.circuit;
      if (circuit.low == position || circuit.high == position) {
        add_end(circuit, *hops.sides.front());
      } else {
        passing_.emplace_back(hops.sides[0], hops.sides[1]);
      }
    }
  }

  std::string name() const override { return cabling_->name(); }
  Lane* lane(int peer) noexcept override {
    const auto all = lanes(peer);
    return all.empty() ? nullptr : all.front();
  }
  std::optional<transport::WindowShape> shape_to(int peer) const override {
    const bool near =
        topology::adjacent(options_.fabric, options_.placement.position(options_.rank),
                           options_.placement.position(peer));
    return near ? options_.shape : options_.far_shape;
  }
  std::vector<Lane*> lanes(int peer) override {
    const auto index = static_cast<std::size_t>(peer);
    std::vector<Lane*> all = direct_[index];
    for (const auto& end : circuits_[index]) all.push_back(end.lane.get());
    return all;
  }
  std::size_t memory_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& window : windows_) bytes += window ? 2 * window->size() : 0;
    return bytes;
  }

  bool must_serve() const noexcept override { return true; }
  void rest(std::chrono::milliseconds limit) noexcept override { cabling_->wait(limit); }
  void sleep(std::chrono::milliseconds limit) noexcept override {
    cabling_->prepare_wait();
    cabling_->wait(limit);
  }
  void wake() noexcept override { cabling_->wake(); }
  void close(std::chrono::milliseconds limit) noexcept override { cabling_->close(limit); }

  bool serve() noexcept override {
    bool moved = false;
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_tend_) {
      next_tend_ = now + kTendEvery;
      if (cabling_->tend()) update_circuits();
      for (OwnCable& cable : own_cables_) watch(cable, now);
      for (const auto& channel : channels_) channel->tend();
    }
    moved = cabling_->poll() || moved;
    return pass_on() || moved;
  }

  transport::Cabling& cabling() noexcept override { return *cabling_; }
  void set_on_cable(OnCable call) override { on_cable_ = std::move(call); }

  void set_cables(const std::vector<bool>& up) override {
    cable_up_ = up;
    update_circuits();
  }

  bool cable_lost(int cable) const noexcept override {
    bool ends_here = false;
    for (std::size_t i = 0; i < cabling_->size(); ++i) {
      if (cabling_->spec(i).cable != cable) continue;
      ends_here = true;
      if (!cabling_->lane(i).failed()) return false;
    }
    return ends_here;
  }

  std::uint64_t bytes_forwarded() const noexcept override {
    return forwarded_.load(std::memory_order_relaxed);
  }

 private:
  /// What was last said of a cable that ends here.
  struct OwnCable {
    int number = 0;
    bool said_up = true;
    std::chrono::steady_clock::time_point good_since;  ///< while it works but was said to be down
  };
  /// The channels of one circuit at this node: one at an end of it, two in between.
  struct Hops {
    Circuit circuit;
    std::vector<Channel*> sides;
  };
  struct End {
    Circuit circuit;
    std::unique_ptr<CircuitLane> lane;
  };
  using Key = std::tuple<int, int, bool>;

  void add_hops(const Neighbour& neighbour) {
    std::size_t index = 0;
    for (const Circuit& circuit : circuits_over(options_.fabric, neighbour.cable)) {
      channels_.push_back(
          std::make_unique<Channel>(LaneSet(direct_[static_cast<std::size_t>(neighbour.rank)]),
                                    hop_region(options_, index), false));
      Hops& hops = hops_[{circuit.low, circuit.high, circuit.eastward}];
      hops.circuit = circuit;
      hops.sides.push_back(channels_.back().get());
      ++index;
    }
  }

  void add_end(const Circuit& circuit, Channel& hop) {
    const int position = options_.placement.position(options_.rank);
    const int far = circuit.low == position ? circuit.high : circuit.low;
    const auto rank = static_cast<std::size_t>(options_.placement.rank(far));
    auto lane = std::make_unique<CircuitLane>(hop, windows_[rank],
                                              topology::adjacent(options_.fabric, position, far));
    auto& ends = circuits_[rank];
    ends.push_back({circuit, std::move(lane)});
    std::stable_sort(ends.begin(), ends.end(), [this](const End& a, const End& b) {
      return length(options_.fabric, a.circuit) < length(options_.fabric, b.circuit);
    });
  }

  /// Moves messages of circuits one hop further.
  bool pass_on() noexcept {
    bool moved = false;
    for (const auto& [one, other] : passing_) {
      moved = pass_on(*one, *other) || moved;
      moved = pass_on(*other, *one) || moved;
    }
    for (const auto& ends : circuits_) {
      for (const End& end : ends) moved = end.lane->deliver() || moved;
    }
    return moved;
  }

  bool pass_on(Channel& from, Channel& to) noexcept {
    bool moved = false;
    while (const auto message = from.front(0)) {
      if (!to.can_send()) break;
      to.send(message.header->tag, 0, message.header->total,
              {message.payload, message.header->bytes});
      forwarded_.store(forwarded_.load(std::memory_order_relaxed) + message.header->bytes,
                       std::memory_order_relaxed);
      from.pop(message);
      moved = true;
    }
    return moved;
  }

  /// A loss is said at once; a return after a while, so that a flapping cable is not used each
  /// time.
  void watch(OwnCable& cable, std::chrono::steady_clock::time_point now) {
    const bool up = !cable_lost(cable.number);
    if (up == cable.said_up) {
      cable.good_since = now;
      return;
    }
    if (!up) cable.good_since = now;
    if (up && now - cable.good_since < kProbation) return;
    cable.said_up = up;
    if (on_cable_) on_cable_(cable.number, up, up ? "" : trouble(cable.number));
  }

  [[nodiscard]] std::string trouble(int cable) const {
    std::string text;
    for (std::size_t i = 0; i < cabling_->size(); ++i) {
      if (cabling_->spec(i).cable != cable) continue;
      text += (text.empty() ? "" : "; ") + cabling_->lane(i).status().message();
    }
    return text;
  }

  /// A circuit is of use while no cable on its way is down, as far as is known here.
  void update_circuits() {
    for (const auto& ends : circuits_) {
      for (const End& end : ends) {
        bool up = true;
        for (int cable = 0; cable < topology::cables(options_.fabric); ++cable) {
          if (!crosses(options_.fabric, end.circuit, cable)) continue;
          up = up && cable_up_[static_cast<std::size_t>(cable)] && !cable_lost(cable);
        }
        end.lane->set_up(up);
      }
    }
  }

  NetworkOptions options_;
  std::vector<std::shared_ptr<Window>> windows_;
  std::unique_ptr<transport::Cabling> cabling_;
  std::vector<std::vector<Lane*>> direct_;  ///< by rank
  std::vector<std::unique_ptr<Channel>> channels_;
  std::map<Key, Hops> hops_;
  std::vector<std::vector<End>> circuits_;  ///< those that end here, by the rank at the other end
  std::vector<std::pair<Channel*, Channel*>> passing_;
  std::vector<bool> cable_up_;
  std::vector<OwnCable> own_cables_;
  OnCable on_cable_;
  std::chrono::steady_clock::time_point next_tend_;
  std::atomic<std::uint64_t> forwarded_{0};
};

}  // namespace

std::vector<std::shared_ptr<Window>> make_windows(const NetworkOptions& options) {
  std::vector<std::size_t> bytes(static_cast<std::size_t>(options.fabric.size),
                                 options.far_shape.window_bytes);
  for (const Neighbour& neighbour : neighbours(options)) {
    const std::size_t hops = circuits_over(options.fabric, neighbour.cable).size();
    bytes[static_cast<std::size_t>(neighbour.rank)] = hop_region(options, hops).offset;
  }
  std::vector<std::shared_ptr<Window>> windows;
  for (int rank = 0; rank < options.fabric.size; ++rank) {
    windows.push_back(rank == options.rank
                          ? nullptr
                          : std::make_shared<Window>(bytes[static_cast<std::size_t>(rank)]));
  }
  return windows;
}

std::unique_ptr<Network> Network::make(const NetworkOptions& options,
                                       std::vector<std::shared_ptr<Window>> windows,
                                       std::unique_ptr<transport::Cabling> cabling) {
  return std::make_unique<NetworkImpl>(options, std::move(windows), std::move(cabling));
}

}  // namespace sircl::relay
