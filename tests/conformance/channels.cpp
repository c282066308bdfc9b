// Channels over every transport: order, credits, streams that overtake, back-pressure.
#include "cable/channel.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "conformance/transports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::test;
using cable::Channel;
using cable::ChannelUse;
using transport::OperationTag;

namespace {

constexpr std::uint32_t kSlotBytes = 1024;

struct Pair {
  Pair(const std::string& name, std::uint32_t slots)
      : shape(cable::window_shape(slots, kSlotBytes)),
        endpoints(transport_named(name).connect(2, shape)) {}
  [[nodiscard]] Channel channel(std::size_t rank, ChannelUse use) {
    return {endpoints[rank]->lane(static_cast<int>(1 - rank)), shape, use};
  }
  transport::WindowShape shape;
  Endpoints endpoints;
};

OperationTag tag_of(std::uint64_t sequence) {
  OperationTag tag;
  tag.sequence = sequence;
  return tag;
}

/// Message `number`: its size and bytes follow from its number.
std::vector<std::byte> message_of(std::uint64_t number) {
  return pattern(number, number * 131 % (kSlotBytes + 1));
}

bool is_message(const Channel::Message& message, std::uint64_t number) {
  const auto expected = message_of(number);
  return message && message.header->tag.sequence == number &&
         message.header->bytes == expected.size() && message.header->total == number + 7 &&
         std::equal(expected.begin(), expected.end(), message.payload);
}

void send(Channel& channel, std::uint32_t stream, std::uint64_t number) {
  const auto bytes = message_of(number);
  if (number % 2 == 0) {
    channel.send(tag_of(number), stream, number + 7, bytes);
    return;
  }
  if (!bytes.empty()) std::memcpy(channel.reserve(), bytes.data(), bytes.size());
  channel.send_reserved(tag_of(number), stream, number + 7, bytes.size());
}

}  // namespace

TEST_CASE("messages come whole and in order, more than 2^16 of them through two slots") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr std::uint64_t kMessages = 70'000;
  Pair pair(name, 2);
  Channel out = pair.channel(0, ChannelUse::collective);
  Channel in = pair.channel(1, ChannelUse::collective);
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  REQUIRE(reaches(pair.endpoints, [&] {
    while (sent < kMessages && out.can_send()) send(out, 0, sent++);
    while (const auto message = in.front(0)) {
      if (!is_message(message, taken)) FAIL("message " << taken << " is wrong");
      in.pop(message);
      ++taken;
    }
    in.flush_credits();
    return taken == kMessages;
  }));
  CHECK_FALSE(in.front(0));
  CHECK_FALSE(in.corrupt());
  CHECK_FALSE(out.corrupt());
}

TEST_CASE("a sender has no more messages out than there are slots") {
  const std::string name = GENERATE(from_range(transport_names()));
  const std::uint32_t slots = GENERATE(2U, 3U, 16U);
  INFO(name << ", " << slots << " slots");
  Pair pair(name, slots);
  Channel out = pair.channel(0, ChannelUse::collective);
  Channel in = pair.channel(1, ChannelUse::collective);
  std::uint64_t sent = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    // All of them go, without any receiver, and not one more.
    while (sent < (round + 1) * slots) {
      REQUIRE(reaches(pair.endpoints, [&] { return out.can_send(); }));
      send(out, 0, sent++);
    }
    for (int i = 0; i < 20; ++i) {
      progress_all(pair.endpoints);
      REQUIRE_FALSE(out.can_send());
    }
    for (std::uint64_t taken = round * slots; taken < sent; ++taken) {
      REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(0)); }));
      REQUIRE(is_message(in.front(0), taken));
      in.pop(in.front(0));
    }
    in.flush_credits();
  }
}

TEST_CASE("a message stays in its slot until it is popped") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  Pair pair(name, 4);
  Channel out = pair.channel(0, ChannelUse::collective);
  Channel in = pair.channel(1, ChannelUse::collective);
  for (std::uint64_t i = 0; i < 4; ++i) send(out, static_cast<std::uint32_t>(i % 2), i);
  REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(1)); }));
  const auto kept = in.front(0);
  // The other stream's messages are taken; the slot of the kept one must not be given back.
  in.pop(in.front(1));
  REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(1)); }));
  in.pop(in.front(1));
  in.flush_credits();
  for (int i = 0; i < 20; ++i) {
    progress_all(pair.endpoints);
    CHECK_FALSE(out.can_send());
  }
  CHECK(is_message(kept, 0));
  in.pop(kept);
  in.flush_credits();
  CHECK(reaches(pair.endpoints, [&] { return out.can_send(); }));
}

TEST_CASE("streams overtake each other, but stay in order themselves") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  Pair pair(name, 8);
  Channel out = pair.channel(0, ChannelUse::point_to_point);
  Channel in = pair.channel(1, ChannelUse::point_to_point);
  for (std::uint64_t round = 0; round < 100; ++round) {
    // Numbers modulo 3 are streams; they are taken stream by stream, the last one first. A quarter
    // of the credits may be held back, so fewer than 8 at once.
    for (std::uint64_t i = 0; i < 6; ++i) {
      REQUIRE(reaches(pair.endpoints, [&] { return out.can_send(); }));
      send(out, static_cast<std::uint32_t>(i % 3), round * 6 + i);
    }
    for (const std::uint64_t stream : {2U, 0U, 1U}) {
      for (std::uint64_t i = stream; i < 6; i += 3) {
        const auto number = static_cast<std::uint32_t>(stream);
        REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(number)); }));
        REQUIRE(is_message(in.front(number), round * 6 + i));
        in.pop(in.front(number));
      }
      CHECK_FALSE(in.front(static_cast<std::uint32_t>(stream)));
    }
    in.flush_credits();
  }
}

TEST_CASE("one channel full of messages that nobody takes does not hold up the other") {
  const std::string name = GENERATE(from_range(transport_names()));
  const auto blocked = GENERATE(ChannelUse::collective, ChannelUse::point_to_point);
  INFO(name << ", blocked " << static_cast<int>(blocked));
  const auto free =
      blocked == ChannelUse::collective ? ChannelUse::point_to_point : ChannelUse::collective;
  Pair pair(name, 4);
  Channel stuck_out = pair.channel(0, blocked);
  Channel stuck_in = pair.channel(1, blocked);
  Channel out = pair.channel(0, free);
  Channel in = pair.channel(1, free);
  for (std::uint64_t i = 0; i < 4; ++i) {
    REQUIRE(reaches(pair.endpoints, [&] { return stuck_out.can_send(); }));
    send(stuck_out, 0, i);
  }
  CHECK_FALSE(stuck_out.can_send());
  for (std::uint64_t i = 0; i < 1000; ++i) {
    REQUIRE(reaches(pair.endpoints, [&] {
      in.flush_credits();
      return out.can_send();
    }));
    send(out, 0, i);
    REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(0)); }));
    REQUIRE(is_message(in.front(0), i));
    in.pop(in.front(0));
  }
  for (std::uint64_t i = 0; i < 4; ++i) {
    REQUIRE(is_message(stuck_in.front(0), i));
    stuck_in.pop(stuck_in.front(0));
  }
}

// A sender as fast as it can be, a receiver that sleeps whenever nothing is there.
TEST_CASE("a fast sender waits for a sleeping receiver") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr std::uint64_t kMessages = 5000;
  Pair pair(name, 4);
  std::atomic<bool> done{false};
  std::thread sender([&] {
    Channel out = pair.channel(0, ChannelUse::collective);
    transport::Lane& lane = out.lanes().first();
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      if (!reaches(lane, [&] { return out.can_send(); })) return;
      send(out, 0, i);
    }
    while (!done) {
      (void)lane.can_put();
      std::this_thread::yield();
    }
  });
  Channel in = pair.channel(1, ChannelUse::collective);
  transport::Transport& transport = *pair.endpoints[1];
  std::uint64_t taken = 0;
  std::uint64_t wrong = 0;
  while (taken < kMessages) {
    in.progress();
    if (const auto message = in.front(0)) {
      if (!is_message(message, taken)) ++wrong;
      in.pop(message);
      ++taken;
      continue;
    }
    transport.prepare_sleep();
    in.progress();
    in.flush_credits();
    if (in.front(0)) {
      transport.cancel_sleep();
      continue;
    }
    const auto began = std::chrono::steady_clock::now();
    transport.sleep(std::chrono::seconds(20));
    if (std::chrono::steady_clock::now() - began >= std::chrono::seconds(20)) break;  // forgotten
  }
  done = true;
  sender.join();
  CHECK(taken == kMessages);
  CHECK(wrong == 0);
}

// Where memory was lent, the message lies there and nowhere else until it is taken.
TEST_CASE("a message in lent memory survives a later wish of another stream") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  Pair pair(name, 8);
  Channel out = pair.channel(0, ChannelUse::collective);
  Channel in = pair.channel(1, ChannelUse::collective);
  const std::size_t bytes = message_of(5).size();
  std::vector<std::byte> first(bytes);
  std::vector<std::byte> second(message_of(6).size());
  in.expect(0, first);
  send(out, 0, 5);
  REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(0)); }));
  CHECK((in.front(0).payload == first.data()) == transport_named(name).can_redirect);
  in.expect(1, second);
  send(out, 1, 6);
  REQUIRE(reaches(pair.endpoints, [&] { return static_cast<bool>(in.front(1)); }));
  REQUIRE(is_message(in.front(0), 5));
  REQUIRE(is_message(in.front(1), 6));
  in.pop(in.front(1));
  in.pop(in.front(0));
}
