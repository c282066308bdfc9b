// Channels over a lane that is stepped by hand: credits and what they cost, memory, expectations.
#include "cable/channel.hpp"

#include <array>
#include <cstring>

#include "support/catch.hpp"
#include "unit/cable_memory_lane.hpp"

using namespace sircl;
using namespace sircl::test;
using cable::Channel;
using cable::ChannelUse;
using cable::SlotHeader;

namespace {

constexpr std::uint32_t kSlotBytes = 256;

struct Ends {
  explicit Ends(std::uint32_t slots, const MemoryLane::Behaviour& behaviour = {})
      : shape(cable::window_shape(slots, kSlotBytes)),
        a(shape.window_bytes, behaviour),
        b(shape.window_bytes, behaviour),
        out(&a, shape, ChannelUse::collective),
        in(&b, shape, ChannelUse::collective) {
    MemoryLane::join(a, b);
  }
  void send(std::uint8_t value, std::uint32_t stream = 0, std::size_t bytes = 1) {
    REQUIRE(out.can_send());
    const std::vector<std::byte> payload(bytes, static_cast<std::byte>(value));
    out.send({}, stream, bytes, payload);
  }
  /// The value of the next message of `stream`, which is taken; -1: none.
  int take(std::uint32_t stream = 0) {
    b.progress();
    const auto message = in.front(stream);
    if (!message) return -1;
    const int value = static_cast<int>(message.payload[0]);
    in.pop(message);
    return value;
  }
  transport::WindowShape shape;
  MemoryLane a, b;
  Channel out, in;
};

}  // namespace

TEST_CASE("the windows of a shape hold two channels, apart and aligned") {
  for (const std::uint32_t slots : {2U, 3U, 16U}) {
    for (const std::uint32_t bytes : {1U, 63U, 64U, 65U, 1024U}) {
      const auto shape = cable::window_shape(slots, bytes);
      CHECK(shape.slots == slots);
      CHECK(shape.slot_bytes == bytes);
      const std::size_t padded = (bytes + 63) / 64 * 64;
      CHECK(shape.window_bytes == 2 * (64 + slots * (64 + padded)));
    }
  }
  // All of it can be filled from both channels without one touching the other.
  const auto shape = cable::window_shape(3, 100);
  MemoryLane a(shape.window_bytes, {});
  MemoryLane b(shape.window_bytes, {});
  MemoryLane::join(a, b);
  std::array<Channel, 2> out{Channel(&a, shape, ChannelUse::collective),
                             Channel(&a, shape, ChannelUse::point_to_point)};
  std::array<Channel, 2> in{Channel(&b, shape, ChannelUse::collective),
                            Channel(&b, shape, ChannelUse::point_to_point)};
  for (std::uint8_t i = 0; i < 6; ++i) {
    const std::vector<std::byte> payload(100, static_cast<std::byte>(i));
    out[i % 2].send({}, 0, 100, payload);
  }
  b.progress();
  for (std::uint8_t i = 0; i < 6; ++i) {
    const auto message = in[i % 2].front(0);
    REQUIRE(message);
    const std::vector<std::byte> expected(100, static_cast<std::byte>(i));
    CHECK(std::memcmp(message.payload, expected.data(), 100) == 0);
    in[i % 2].pop(message);
  }
}

TEST_CASE("a header carries tag, stream, size and total unchanged") {
  Ends ends(2);
  transport::OperationTag tag;
  tag.sequence = 0x0102030405060708;
  tag.count = 99;
  tag.root = -3;
  tag.kind = 7;
  const std::array<std::byte, 5> payload{};
  ends.out.send(tag, 0xFFFFFFFF, 1ULL << 40, payload);
  ends.b.progress();
  const auto message = ends.in.front(0xFFFFFFFF);
  REQUIRE(message);
  CHECK(message.header->tag.signature() == tag.signature());
  CHECK(message.header->bytes == 5);
  CHECK(message.header->total == 1ULL << 40);
  CHECK_FALSE(ends.in.front(0));
}

TEST_CASE("credits that cost a message are held back until a quarter of the slots is owed") {
  Ends ends(16);
  for (std::uint8_t i = 0; i < 16; ++i) ends.send(i);
  CHECK_FALSE(ends.out.can_send());
  for (int i = 0; i < 3; ++i) REQUIRE(ends.take() == i);
  CHECK(ends.b.flag_puts() == 0);
  REQUIRE(ends.take() == 3);
  CHECK(ends.b.flag_puts() == 1);
  CHECK_FALSE(ends.out.can_send());  // it has not arrived yet
  ends.a.progress();
  for (std::uint8_t i = 0; i < 4; ++i) ends.send(i);
  CHECK_FALSE(ends.out.can_send());
}

TEST_CASE("credits that cost nothing return at once") {
  Ends ends(16, {.cheap_flags = true});
  for (std::uint8_t i = 0; i < 16; ++i) ends.send(i);
  REQUIRE(ends.take() == 0);
  ends.a.progress();
  CHECK(ends.out.can_send());
  CHECK(ends.b.flag_puts() == 1);
}

TEST_CASE("credits travel in the headers of messages that go the other way") {
  Ends ends(16);
  std::uint64_t taken = 0;
  for (std::uint8_t round = 0; round < 100; ++round) {
    ends.send(round);
    REQUIRE(ends.take() == round);
    ++taken;
    // An answer on the same channel, whose receiver is the sender above.
    REQUIRE(ends.in.can_send());
    ends.in.send({}, 0, 0, {});
    ends.a.progress();
    const auto answer = ends.out.front(0);
    REQUIRE(answer);
    CHECK(answer.header->credits == taken);
    ends.out.pop(answer);
  }
  CHECK(ends.a.flag_puts() == 0);
  CHECK(ends.b.flag_puts() == 0);
}

TEST_CASE("a credit waits while the lane takes nothing, and flush_credits brings it later") {
  Ends ends(4, {.queue = 4});
  for (std::uint8_t i = 0; i < 4; ++i) ends.send(i);
  ends.b.progress();
  // The receiver's own queue is full of messages that the sender does not read.
  for (int i = 0; i < 4; ++i) ends.in.send({}, 0, 0, {});
  CHECK_FALSE(ends.b.can_put());
  REQUIRE(ends.take() == 0);
  CHECK(ends.b.flag_puts() == 0);
  ends.a.progress();
  ends.in.flush_credits();
  CHECK(ends.b.flag_puts() == 1);
  ends.in.flush_credits();
  CHECK(ends.b.flag_puts() == 1);  // once
  ends.a.progress();
  CHECK(ends.out.can_send());
}

TEST_CASE("a lane that takes nothing stops a sender that has credits") {
  Ends ends(8, {.queue = 2});
  ends.send(1);
  ends.send(2);
  CHECK_FALSE(ends.out.can_send());
  ends.b.deliver();
  CHECK(ends.out.can_send());
}

TEST_CASE("reserved memory is the peer's slot where it is mapped, else private") {
  for (const bool mapped : {false, true}) {
    Ends ends(2, {.cheap_flags = true, .mapped = mapped});
    for (std::uint8_t round = 0; round < 5; ++round) {
      REQUIRE(ends.out.can_send());
      std::byte* const memory = ends.out.reserve();
      const bool inside =
          memory >= ends.b.window() && memory < ends.b.window() + ends.b.window_bytes();
      CHECK(inside == mapped);
      std::memset(memory, round, kSlotBytes);
      ends.out.send_reserved({}, 0, kSlotBytes, kSlotBytes);
      ends.b.progress();
      const auto message = ends.in.front(0);
      REQUIRE(message);
      CHECK(message.header->bytes == kSlotBytes);
      CHECK(static_cast<int>(message.payload[kSlotBytes - 1]) == round);
      ends.in.pop(message);
      ends.a.progress();
    }
  }
}

TEST_CASE("an expected message lies in the lent memory; another one goes where it belongs") {
  Ends ends(4, {.redirects = true});
  std::vector<std::byte> lent(64);
  const auto check = [&](std::uint32_t stream, std::size_t bytes, bool in_lent) {
    ends.in.expect(0, lent);
    ends.send(0x2A, stream, bytes);
    ends.b.progress();
    const auto message = ends.in.front(stream);
    REQUIRE(message);
    CHECK((message.payload == lent.data()) == in_lent);
    const std::vector<std::byte> expected(bytes, std::byte{0x2A});
    CHECK(std::memcmp(message.payload, expected.data(), bytes) == 0);
    ends.in.pop(message);
    ends.a.progress();
  };
  for (int repeat = 0; repeat < 5; ++repeat) {
    check(0, 64, true);    // as expected
    check(1, 64, false);   // of another stream
    check(0, 63, false);   // shorter
    check(0, 200, false);  // longer: part of it had been in the lent memory
  }
  // Never for a message that is already here, or for more than a slot.
  ends.send(7, 0, 64);
  ends.b.progress();
  ends.in.expect(0, lent);
  CHECK(ends.in.front(0).payload != lent.data());
  ends.in.pop(ends.in.front(0));
  std::vector<std::byte> large(kSlotBytes + 1);
  ends.in.expect(0, large);
  ends.send(8, 0, 64);
  ends.b.progress();
  CHECK(static_cast<int>(ends.in.front(0).payload[0]) == 8);
}

TEST_CASE("forgotten memory is not written any more") {
  Ends ends(4, {.redirects = true});
  std::vector<std::byte> lent(64);
  ends.in.expect(0, lent);
  ends.in.forget();
  ends.send(5, 0, 64);
  ends.b.progress();
  const auto message = ends.in.front(0);
  REQUIRE(message);
  CHECK(message.payload != lent.data());
  CHECK(static_cast<int>(message.payload[63]) == 5);
  CHECK(lent == std::vector<std::byte>(64));
}

TEST_CASE("only the collective channel lends memory, for a lane has one redirection") {
  Ends ends(4, {.redirects = true});
  Channel out(&ends.a, ends.shape, ChannelUse::point_to_point);
  Channel in(&ends.b, ends.shape, ChannelUse::point_to_point);
  std::vector<std::byte> lent(64);
  std::vector<std::byte> other(64);
  ends.in.expect(0, lent);
  in.expect(0, other);
  const std::vector<std::byte> payload(64, std::byte{9});
  out.send({}, 0, 64, payload);
  ends.send(6, 0, 64);
  ends.b.progress();
  CHECK(ends.in.front(0).payload == lent.data());
  REQUIRE(in.front(0));
  CHECK(in.front(0).payload != other.data());
  CHECK(static_cast<int>(in.front(0).payload[63]) == 9);
}
