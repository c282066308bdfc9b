// Messages between all pairs of a ring or path, over their own cables and over relays, while lanes
// and cables are cut and come back.
#include "relay/network.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <random>

#include "exec/channels.hpp"
#include "support/catch.hpp"
#include "support/loopback_fabric.hpp"

using namespace sircl;
using namespace sircl::test;
using cable::Channel;
using cable::ChannelUse;
using topology::Fabric;
using topology::FabricKind;

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kSlotBytes = 3000;

std::byte byte_of(std::uint64_t number, std::size_t i) {
  return static_cast<std::byte>(number * 7 + i * 13 + (i >> 8));
}

/// All pairs talk at once; every message has a number, a size and bytes that follow from it.
class Talk {
 public:
  Talk(LoopbackFabric& fabric, const transport::WindowShape& shape, std::uint64_t seed)
      : fabric_(fabric), random_(seed) {
    for (int rank = 0; rank < fabric.size(); ++rank) {
      channels_.push_back(
          std::make_unique<exec::Channels>(fabric.network(rank), fabric.size(), shape));
    }
    const auto pairs =
        static_cast<std::size_t>(fabric.size()) * static_cast<std::size_t>(fabric.size());
    sent_.resize(pairs);
    taken_.resize(pairs);
    lent_.resize(pairs);
  }

  /// One round in which every rank tends what it has to, and may send and take.
  void step() {
    fabric_.serve_all();
    for (int from = 0; from < fabric_.size(); ++from) {
      channels_[static_cast<std::size_t>(from)]->tend();
      for (int to = 0; to < fabric_.size(); ++to) {
        if (to == from) continue;
        if (open_ && random_() % 2 == 0) send(from, to);
        take(from, to);
      }
    }
  }
  /// Nothing new is said; true once everything said has been taken.
  bool finish() {
    open_ = false;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (sent_ != taken_) {
      if (std::chrono::steady_clock::now() > limit) return false;
      step();
    }
    return true;
  }
  [[nodiscard]] std::uint64_t taken() const {
    std::uint64_t sum = 0;
    for (const auto count : taken_) sum += count;
    return sum;
  }
  std::uint64_t wrong = 0;
  std::uint64_t lent = 0;  ///< messages that came straight into lent memory

 private:
  std::size_t pair(int from, int to) const {
    return static_cast<std::size_t>(from * fabric_.size() + to);
  }
  static std::size_t size_of(std::uint64_t number) { return number * 977 % (kSlotBytes + 1); }

  void send(int from, int to) {
    Channel& channel = channels_[static_cast<std::size_t>(from)]->get(to, ChannelUse::collective);
    if (!channel.can_send()) return;
    const std::uint64_t number = sent_[pair(from, to)]++;
    std::vector<std::byte> payload(size_of(number));
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = byte_of(number, i);
    if (number % 2 == 0) {
      channel.send({}, 0, number, payload);
      return;
    }
    if (!payload.empty()) std::memcpy(channel.reserve(), payload.data(), payload.size());
    channel.send_reserved({}, 0, number, payload.size());
  }

  void take(int to, int from) {
    Channel& channel = channels_[static_cast<std::size_t>(to)]->get(from, ChannelUse::collective);
    const std::uint64_t number = taken_[pair(from, to)];
    // With nothing under way the next message is the one that is meant.
    if (random_() % 2 == 0 && sent_[pair(from, to)] == number && lent_[pair(from, to)].empty()) {
      lent_[pair(from, to)].assign(size_of(number), std::byte{0});
      channel.expect(0, lent_[pair(from, to)]);
    }
    const auto message = channel.front(0);
    if (!message) return;
    bool right = message.header->total == number && message.header->bytes == size_of(number);
    for (std::size_t i = 0; right && i < message.header->bytes; ++i) {
      right = message.payload[i] == byte_of(number, i);
    }
    if (!right || channel.corrupt()) ++wrong;
    if (message.payload == lent_[pair(from, to)].data()) ++lent;
    channel.pop(message);
    lent_[pair(from, to)].clear();
    ++taken_[pair(from, to)];
  }

  LoopbackFabric& fabric_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<exec::Channels>> channels_;
  std::vector<std::uint64_t> sent_, taken_;  ///< by pair
  std::vector<std::vector<std::byte>> lent_;  ///< to expect(), by pair
  bool open_ = true;
};

}  // namespace

TEST_CASE("every two nodes of a fabric talk to each other") {
  const auto shape = cable::window_shape(kSlots, kSlotBytes);
  for (const Fabric& kind :
       {Fabric{FabricKind::ring, 3}, Fabric{FabricKind::ring, 4}, Fabric{FabricKind::ring, 5},
        Fabric{FabricKind::path, 3}, Fabric{FabricKind::path, 4}, Fabric{FabricKind::pair, 2}}) {
    INFO(topology::to_string(kind));
    LoopbackFabric fabric(kind, 2, shape);
    Talk talk(fabric, shape, 1);
    for (int i = 0; i < 200; ++i) talk.step();
    CHECK(talk.finish());
    CHECK(talk.wrong == 0);
    CHECK(talk.taken() > 100);
    CHECK(talk.lent > 0);
    std::uint64_t forwarded = 0;
    for (int rank = 0; rank < fabric.size(); ++rank) {
      forwarded += fabric.network(rank).bytes_forwarded();
    }
    // Neighbours need no relay, and in a triangle and a pair there are no others.
    CHECK((forwarded > 0) == (kind.size > 3 || kind == Fabric{FabricKind::path, 3}));
  }
}

TEST_CASE("any order of ranks on the cables") {
  const auto shape = cable::window_shape(kSlots, kSlotBytes);
  LoopbackFabric fabric({FabricKind::ring, 4}, 1, shape, {2, 0, 3, 1});
  Talk talk(fabric, shape, 2);
  for (int i = 0; i < 200; ++i) talk.step();
  CHECK(talk.finish());
  CHECK(talk.wrong == 0);
}

TEST_CASE("a lane that is cut and comes back loses nothing") {
  const auto shape = cable::window_shape(kSlots, kSlotBytes);
  LoopbackFabric fabric({FabricKind::ring, 4}, 2, shape);
  Talk talk(fabric, shape, 3);
  for (int round = 0; round < 10; ++round) {
    const bool up = round % 2 == 1;
    fabric.set_lane(round / 2 % 4, 0, up);
    for (int i = 0; i < 200; ++i) talk.step();
  }
  CHECK(talk.finish());
  CHECK(talk.wrong == 0);
}

TEST_CASE("a cable that is cut is gone around, and used again when it is back") {
  const auto shape = cable::window_shape(kSlots, kSlotBytes);
  LoopbackFabric fabric({FabricKind::ring, 4}, 2, shape);
  Talk talk(fabric, shape, 4);
  for (int round = 0; round < 6; ++round) {
    const int cable = round / 2 % 4;
    const bool up = round % 2 == 1;
    for (int lane = 0; lane < 2; ++lane) fabric.set_lane(cable, lane, up);
    for (int i = 0; i < 50; ++i) talk.step();
    std::vector<bool> cables(4, true);
    cables[static_cast<std::size_t>(cable)] = up;
    fabric.announce_cables(cables);
    const auto before = talk.taken();
    for (int i = 0; i < 300; ++i) talk.step();
    CHECK(talk.taken() > before);
  }
  CHECK(talk.finish());
  CHECK(talk.wrong == 0);
}

TEST_CASE("what is said while a path is cut arrives when it is whole again") {
  const auto shape = cable::window_shape(kSlots, kSlotBytes);
  LoopbackFabric fabric({FabricKind::path, 3}, 1, shape);
  Talk talk(fabric, shape, 5);
  for (int i = 0; i < 100; ++i) talk.step();
  fabric.set_lane(1, 0, false);
  fabric.announce_cables({true, false});
  for (int i = 0; i < 100; ++i) talk.step();
  fabric.set_lane(1, 0, true);
  fabric.announce_cables({true, true});
  CHECK(talk.finish());
  CHECK(talk.wrong == 0);
}
