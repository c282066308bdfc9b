// Sleeping: a wake-up between the last look and the sleep is never lost.
#include <atomic>
#include <thread>

#include "conformance/transports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::test;
using transport::Lane;
using transport::Transport;

namespace {

using Clock = std::chrono::steady_clock;

/// So long that no healthy wake-up takes it, and a lost one ends the test.
constexpr std::chrono::milliseconds kNap{20'000};

/// Sleeps, never polls, until `ready`. False when a sleep ran to its limit: a lost wake-up.
template <typename Ready>
bool sleep_until(Transport& transport, Ready&& ready) {
  while (true) {
    transport.prepare_sleep();
    if (ready()) {
      transport.cancel_sleep();
      return true;
    }
    const auto began = Clock::now();
    transport.sleep(kNap);
    if (Clock::now() - began >= kNap) return false;
  }
}

}  // namespace

// Both sides sleep for every message. The pause between look and sleep varies, so that the flag
// falls before, between and after.
TEST_CASE("two ranks that always sleep lose no wake-up") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr std::uint64_t kRounds = 3000;
  auto endpoints = transport_named(name).connect(2, plain_window(4096));
  std::atomic<int> lost{0};
  const auto run = [&](std::size_t rank) {
    Transport& transport = *endpoints[rank];
    Lane& lane = *transport.lane(static_cast<int>(1 - rank));
    for (std::uint64_t i = 1; i <= kRounds && lost == 0; ++i) {
      if (rank == 0) lane.put(0, {}, {}, 0, i);
      const bool woken = sleep_until(transport, [&] {
        lane.progress();
        const bool there = flag(lane, 0) >= i;
        for (std::uint64_t pause = i % 7; !there && pause > 0; --pause) std::this_thread::yield();
        return there;
      });
      if (!woken) ++lost;
      if (rank == 1) lane.put(0, {}, {}, 0, i);
    }
  };
  std::thread second([&] { run(1); });
  run(0);
  second.join();
  CHECK(lost == 0);
}

TEST_CASE("a sleeper hears every lane, and the one that speaks last") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr int kRanks = 5;
  auto endpoints = transport_named(name).connect(kRanks, plain_window(4096));
  std::atomic<std::uint64_t> round{0};
  std::vector<std::thread> speakers;
  for (int rank = 1; rank < kRanks; ++rank) {
    speakers.emplace_back([&, rank] {
      Lane& lane = *endpoints[static_cast<std::size_t>(rank)]->lane(0);
      for (std::uint64_t i = 1; i <= 200; ++i) {
        while (round < i) std::this_thread::yield();
        lane.put(0, {}, {}, 0, i);
      }
    });
  }
  bool lost = false;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    round = i;
    for (int rank = 1; rank < kRanks && !lost; ++rank) {
      Lane& lane = *endpoints[0]->lane(rank);
      lost = !sleep_until(*endpoints[0], [&] {
        lane.progress();
        return flag(lane, 0) == i;
      });
      // What the others sent is taken too, else a transport that polls would not sleep again.
      for (int other = 1; other < kRanks; ++other) endpoints[0]->lane(other)->progress();
    }
  }
  for (auto& speaker : speakers) speaker.join();
  CHECK_FALSE(lost);
}

TEST_CASE("wake() from another thread ends a sleep, also one that has not quite begun") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096));
  Transport& transport = *endpoints[0];
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> prepared{false};
    std::atomic<bool> overslept{false};
    std::thread sleeper([&] {
      transport.prepare_sleep();
      prepared = true;
      const auto began = Clock::now();
      transport.sleep(kNap);
      overslept = Clock::now() - began >= kNap;
    });
    while (!prepared) std::this_thread::yield();
    for (int pause = round % 5; pause > 0; --pause) std::this_thread::yield();
    transport.wake();
    sleeper.join();
    REQUIRE_FALSE(overslept);
  }
}

TEST_CASE("a sleep ends at its limit, and cancelled sleeps leave nothing behind") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096));
  Transport& transport = *endpoints[0];
  for (int i = 0; i < 1000; ++i) {
    transport.prepare_sleep();
    transport.cancel_sleep();
  }
  transport.prepare_sleep();
  const auto began = Clock::now();
  transport.sleep(std::chrono::milliseconds(30));
  CHECK(Clock::now() - began >= std::chrono::milliseconds(29));
  // Lanes still work.
  endpoints[1]->lane(0)->put(0, {}, {}, 0, 5);
  CHECK(reaches(endpoints, [&] { return flag(*transport.lane(1), 0) == 5; }));
}

// A sender that sleeps because its queue is full must be woken when there is room again.
TEST_CASE("room in the queue wakes a sleeping sender") {
  const std::string name = GENERATE(from_range(transport_names()));
  if (!transport_named(name).queue_fills) return;
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096 + 65536));
  Lane& from = *endpoints[0]->lane(1);
  std::uint64_t count = 0;
  while (from.can_put()) from.put(4096, pattern(1, 65536), {}, 0, ++count);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    Lane& lane = *endpoints[1]->lane(0);
    while (!stop) {
      lane.progress();
      std::this_thread::yield();
    }
  });
  CHECK(sleep_until(*endpoints[0], [&] { return from.can_put(); }));
  stop = true;
  reader.join();
}
