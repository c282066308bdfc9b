// Sends and receives over lanes that are stepped by hand.
#include "exec/point_to_point.hpp"

#include <memory>
#include <numeric>

#include "support/catch.hpp"
#include "unit/cable_memory_lane.hpp"

using namespace sircl;
using namespace sircl::test;
using exec::LiveCounters;
using exec::PointToPoint;
using exec::Transfer;

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kSlotBytes = 64;

struct Outcome {
  bool done = false;
  Status status;
};

/// N ranks in one thread.
class World {
 public:
  explicit World(int ranks) : shape_(cable::window_shape(kSlots, kSlotBytes)) {
    for (int rank = 0; rank < ranks; ++rank) {
      transports_.push_back(std::make_unique<MemoryTransport>(ranks));
    }
    MemoryTransport::join(transports_, shape_.window_bytes, {});
    for (int rank = 0; rank < ranks; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      channels_.push_back(std::make_unique<exec::Channels>(*transports_[index], ranks, shape_));
      counters_.push_back(std::make_unique<LiveCounters>());
      ranks_.push_back(std::make_unique<PointToPoint>(*channels_[index], rank, ranks, kSlotBytes,
                                                      *counters_[index]));
    }
  }
  PointToPoint& operator[](int rank) { return *ranks_[static_cast<std::size_t>(rank)]; }
  MemoryTransport& transport(int rank) { return *transports_[static_cast<std::size_t>(rank)]; }
  LiveCounters& counters(int rank) { return *counters_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const transport::WindowShape& shape() const { return shape_; }
  exec::Channels& channels(int rank) { return *channels_[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<Outcome> post(int rank, bool outgoing, int peer, std::vector<std::byte>& data) {
    auto outcome = std::make_shared<Outcome>();
    Transfer transfer;
    transfer.outgoing = outgoing;
    transfer.peer = peer;
    transfer.data = data.data();
    transfer.bytes = data.size();
    transfer.finished = [outcome](const Status& status) { *outcome = {true, status}; };
    (*this)[rank].post(std::move(transfer));
    return outcome;
  }
  /// Until nothing moves any more. The first error ends it.
  Status settle() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (auto& rank : ranks_) {
        if (Status status = rank->progress(moved); !status.ok()) return status;
      }
    }
    return {};
  }

 private:
  transport::WindowShape shape_;
  std::vector<std::unique_ptr<MemoryTransport>> transports_;
  std::vector<std::unique_ptr<exec::Channels>> channels_;
  std::vector<std::unique_ptr<LiveCounters>> counters_;
  std::vector<std::unique_ptr<PointToPoint>> ranks_;
};

std::vector<std::byte> numbered(std::size_t bytes, int first) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(first + static_cast<int>(i * 7));
  return data;
}

}  // namespace

TEST_CASE("messages of all sizes arrive, in order, whoever comes first") {
  for (const bool receive_first : {false, true}) {
    World world(2);
    const std::vector<std::size_t> sizes = {0, 1, 63, 64, 65, 0, 128, 1000, 5000, 3};
    std::vector<std::vector<std::byte>> sent, got;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      sent.push_back(numbered(sizes[i], static_cast<int>(i)));
      got.emplace_back(sizes[i]);
    }
    std::vector<std::shared_ptr<Outcome>> outcomes;
    const auto post = [&](bool outgoing) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        outcomes.push_back(outgoing ? world.post(0, true, 1, sent[i])
                                    : world.post(1, false, 0, got[i]));
      }
    };
    post(!receive_first);
    REQUIRE(world.settle().ok());
    post(receive_first);
    REQUIRE(world.settle().ok());
    CHECK(got == sent);
    for (const auto& outcome : outcomes) {
      CHECK(outcome->done);
      CHECK(outcome->status.ok());
    }
    CHECK(world[0].idle());
    CHECK(world[1].idle());
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    CHECK(world.counters(0).bytes_sent == total);
    CHECK(world.counters(1).bytes_received == total);
  }
}

TEST_CASE("an unasked-for send stops when the slots are full, and holds up nobody else") {
  World world(3);
  auto large = numbered(10 * kSlotBytes, 1);
  const auto stuck = world.post(0, true, 1, large);
  REQUIRE(world.settle().ok());
  CHECK_FALSE(stuck->done);
  CHECK(world.counters(0).bytes_sent == kSlots * kSlotBytes);
  CHECK(world[0].awaited_peer() == 1);
  auto other = numbered(1000, 2);
  std::vector<std::byte> got(1000);
  const auto sent = world.post(0, true, 2, other);
  const auto received = world.post(2, false, 0, got);
  REQUIRE(world.settle().ok());
  CHECK(sent->done);
  CHECK(received->done);
  CHECK(got == other);
  CHECK_FALSE(stuck->done);
  std::vector<std::byte> late(10 * kSlotBytes);
  (void)world.post(1, false, 0, late);
  REQUIRE(world.settle().ok());
  CHECK(stuck->done);
  CHECK(late == large);
  CHECK(world[0].awaited_peer() == -1);
}

TEST_CASE("everybody sends to everybody at once, also to itself") {
  constexpr int kRanks = 5;
  World world(kRanks);
  std::vector<std::vector<std::byte>> sent, got(kRanks * kRanks, std::vector<std::byte>(777));
  for (int i = 0; i < kRanks * kRanks; ++i) sent.push_back(numbered(777, i));
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int peer = 0; peer < kRanks; ++peer) {
      (void)world.post(rank, true, peer, sent[static_cast<std::size_t>(rank * kRanks + peer)]);
      (void)world.post(peer, false, rank, got[static_cast<std::size_t>(rank * kRanks + peer)]);
    }
  }
  REQUIRE(world.settle().ok());
  CHECK(got == sent);
  for (int rank = 0; rank < kRanks; ++rank) CHECK(world[rank].idle());
}

TEST_CASE("sizes that differ are named with both ranks and both sizes") {
  for (const std::size_t wrong : {std::size_t{99}, std::size_t{101}, std::size_t{0}}) {
    World world(3);
    auto data = numbered(100, 0);
    std::vector<std::byte> room(wrong);
    (void)world.post(2, true, 1, data);
    const auto received = world.post(1, false, 2, room);
    const Status status = world.settle();
    CHECK(status.code() == StatusCode::mismatch);
    CHECK(status.message() == "rank 2 sent 100 bytes to rank 1, which receives " +
                                  std::to_string(wrong) +
                                  " bytes; both sides must name the same count and type");
    CHECK_FALSE(received->done);
    world[1].fail_all(status);
    CHECK(received->done);
    CHECK(received->status.message() == status.message());
    CHECK(world[1].idle());
  }
  World world(2);
  auto data = numbered(10, 0);
  std::vector<std::byte> room(11);
  const auto sent = world.post(0, true, 0, data);
  const auto received = world.post(0, false, 0, room);
  const Status status = world.settle();
  CHECK(status.code() == StatusCode::mismatch);
  CHECK(status.message() == "rank 0 sends 10 bytes to itself but receives 11");
  CHECK(sent->status.message() == status.message());
  CHECK(received->status.message() == status.message());
}

TEST_CASE("a lane that fails fails its transfers, with the lane's reason, and no others") {
  World world(3);
  std::vector<std::byte> room(100);
  (void)world.post(0, false, 1, room);
  world.transport(0).at(2).fail({StatusCode::peer_lost, "the connection to rank 2 broke"});
  CHECK(world.settle().ok());  // nothing is open with rank 2
  std::vector<std::byte> other(100);
  (void)world.post(0, false, 2, other);
  const Status status = world.settle();
  CHECK(status.code() == StatusCode::peer_lost);
  CHECK(status.message() == "the connection to rank 2 broke");
}

TEST_CASE("a peer that breaks the protocol is named") {
  World world(2);
  std::vector<std::byte> room(100);
  (void)world.post(0, false, 1, room);
  // The first slot of the second channel holds a message far ahead of its turn.
  const auto region = cable::region_of(world.shape(), cable::ChannelUse::point_to_point);
  world.transport(1).at(0).put(0, {}, {}, region.slot(0), 1000);
  const Status status = world.settle();
  CHECK(status.code() == StatusCode::internal);
  CHECK(status.message() == "rank 1 broke the channel protocol");
}

TEST_CASE("probes reach every other rank, beside data that waits") {
  World world(3);
  auto data = numbered(kSlotBytes, 0);
  (void)world.post(0, true, 1, data);  // rank 1 has not asked for it
  REQUIRE(world.settle().ok());
  transport::OperationTag tag;
  tag.sequence = 42;
  std::vector<std::pair<int, std::uint64_t>> heard;
  for (int rank = 1; rank < 3; ++rank) {
    world[rank].set_on_probe([&, rank](int peer, const transport::OperationTag& theirs) {
      CHECK(peer == 0);
      heard.emplace_back(rank, theirs.sequence);
    });
  }
  world[0].probe(tag);
  world[1].take_probes();
  world[2].take_probes();
  CHECK(heard == std::vector<std::pair<int, std::uint64_t>>{{1, 42}, {2, 42}});
  std::vector<std::byte> room(kSlotBytes);
  (void)world.post(1, false, 0, room);
  REQUIRE(world.settle().ok());
  CHECK(room == data);
}

TEST_CASE("probing never waits: with full slots the probe is left out") {
  World world(2);
  auto data = numbered(100 * kSlotBytes, 0);
  (void)world.post(0, true, 1, data);
  REQUIRE(world.settle().ok());
  const auto before = world.transport(0).at(1).puts();
  world[0].probe({});
  CHECK(world.transport(0).at(1).puts() == before);
}

TEST_CASE("fail_all ends everything that is open, once") {
  World world(2);
  auto data = numbered(1000, 0);
  std::vector<std::byte> room(10);
  const auto sent = world.post(0, true, 1, data);
  const auto received = world.post(0, false, 1, room);
  world[0].fail_all({StatusCode::aborted, "enough"});
  CHECK(sent->done);
  CHECK(received->done);
  CHECK(sent->status.message() == "enough");
  CHECK(world[0].idle());
  CHECK(world[0].awaited_peer() == -1);
  bool moved = false;
  CHECK(world[0].progress(moved).ok());
  CHECK_FALSE(moved);
}
