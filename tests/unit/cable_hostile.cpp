// A peer that does not keep to the rules of a channel: it is noticed, and nothing is read or
// written outside.
#include <cstring>

#include "cable/channel.hpp"
#include "support/catch.hpp"
#include "unit/cable_memory_lane.hpp"

using namespace sircl;
using namespace sircl::test;
using cable::Channel;
using cable::ChannelUse;
using cable::SlotHeader;

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kSlotBytes = 64;
// The collective channel: a line with the credits, then slots of flag, header and payload.
constexpr std::uint64_t kCredit = 0;
constexpr std::uint64_t kFirstSlot = 64;
constexpr std::uint64_t kStride = 64 + kSlotBytes;

struct Victim {
  Victim()
      : shape(cable::window_shape(kSlots, kSlotBytes)),
        own(shape.window_bytes, {.redirects = true}),
        peer(shape.window_bytes, {}),
        channel(&own, shape, ChannelUse::collective) {
    MemoryLane::join(own, peer);
  }
  void put(std::uint64_t slot, const SlotHeader& header, std::uint64_t flag) {
    const std::uint64_t at = kFirstSlot + slot * kStride;
    peer.put(at + 8, std::as_bytes(std::span(&header, 1)), {}, at, flag);
    own.progress();
  }
  transport::WindowShape shape;
  MemoryLane own, peer;
  Channel channel;
};

SlotHeader header_of(std::uint32_t bytes, std::uint32_t stream = 0) {
  SlotHeader header;
  header.bytes = bytes;
  header.stream = stream;
  return header;
}

}  // namespace

TEST_CASE("a payload larger than a slot") {
  Victim victim;
  victim.put(0, header_of(kSlotBytes), 1);
  CHECK(victim.channel.front(0));
  CHECK_FALSE(victim.channel.corrupt());
  victim.put(1, header_of(kSlotBytes + 1, 1), 2);
  CHECK_FALSE(victim.channel.front(1));
  CHECK(victim.channel.corrupt());
  CHECK_FALSE(victim.channel.front(0));  // nothing more is taken
}

TEST_CASE("more messages than there are slots") {
  Victim victim;
  for (std::uint64_t i = 0; i < kSlots; ++i) victim.put(i, header_of(1), i + 1);
  CHECK(victim.channel.front(0));
  CHECK_FALSE(victim.channel.corrupt());
  victim.put(0, header_of(1), kSlots + 1);
  CHECK_FALSE(victim.channel.front(0));
  CHECK(victim.channel.corrupt());
}

TEST_CASE("a message far ahead of its turn, and one that goes back") {
  for (const std::uint64_t flag : {std::uint64_t{kSlots + 1}, ~std::uint64_t{0}}) {
    Victim victim;
    victim.put(0, header_of(1), flag);
    CHECK_FALSE(victim.channel.front(0));
    CHECK(victim.channel.corrupt());
  }
  Victim victim;
  victim.put(0, header_of(1), 1);
  CHECK(victim.channel.front(0));
  victim.put(0, header_of(1), 0);
  CHECK(victim.channel.front(0));  // what has arrived has arrived
}

TEST_CASE("a slot that is written again after it was noted") {
  Victim victim;
  victim.put(0, header_of(10), 1);
  REQUIRE(victim.channel.front(0));
  victim.put(0, header_of(1 << 20), 1);
  CHECK_FALSE(victim.channel.front(0));
  CHECK(victim.channel.corrupt());
}

TEST_CASE("a message in lent memory whose size is written again") {
  Victim victim;
  std::vector<std::byte> lent(16);
  victim.channel.expect(0, lent);
  victim.put(0, header_of(16), 1);
  REQUIRE(victim.channel.front(0).payload == lent.data());
  victim.put(0, header_of(kSlotBytes), 1);
  CHECK_FALSE(victim.channel.front(0));
  CHECK(victim.channel.corrupt());
}

TEST_CASE("an expected message that says it is larger than any") {
  Victim victim;
  std::vector<std::byte> lent(16);
  victim.channel.expect(0, lent);
  victim.put(0, header_of(0xFFFFFFFF), 1);
  CHECK_FALSE(victim.channel.front(0));
  CHECK(victim.channel.corrupt());
}

TEST_CASE("credits for messages that were never sent") {
  Victim victim;
  SlotHeader header = header_of(1);
  header.credits = ~std::uint64_t{0};
  victim.put(0, header, 1);
  REQUIRE(victim.channel.front(0));
  victim.peer.put(0, {}, {}, kCredit, ~std::uint64_t{0});
  victim.own.progress();
  // They count for what was sent and no further: never more than the slots at once.
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      REQUIRE(victim.channel.can_send());
      victim.channel.send({}, 0, 0, {});
    }
  }
  victim.peer.put(0, {}, {}, kCredit, 0);  // and taken back: a sender that was told keeps to it
  victim.own.progress();
  for (std::uint32_t i = 0; i < kSlots; ++i) {
    if (victim.channel.can_send()) victim.channel.send({}, 0, 0, {});
  }
  CHECK_FALSE(victim.channel.can_send());
}
