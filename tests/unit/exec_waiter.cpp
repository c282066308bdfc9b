// How a wait goes: look, spin, yield, sleep; and what ends it early.
#include "exec/waiter.hpp"

#include <thread>

#include "support/catch.hpp"
#include "unit/cable_memory_lane.hpp"

using namespace sircl;
using namespace sircl::test;
using exec::LiveCounters;
using exec::Waiter;
using exec::WaiterOptions;

namespace {

/// No spinning, and asleep as soon as that is possible.
WaiterOptions drowsy() {
  WaiterOptions options;
  options.policy = {0, std::chrono::microseconds(0)};
  options.ranks = 4;
  return options;
}

struct Fixture {
  explicit Fixture(const WaiterOptions& options = drowsy())
      : waiter(options, failure, &transport, counters) {}
  Failure failure;
  MemoryTransport transport{4};
  LiveCounters counters;
  Waiter waiter;
};

}  // namespace

TEST_CASE("what is ready is not waited for") {
  Fixture fixture;
  int idles = 0;
  fixture.waiter.set_idle([&] { ++idles; });
  CHECK(fixture.waiter.wait(1, [] { return true; }).ok());
  CHECK(idles == 0);
  CHECK(fixture.counters.yields == 0);
  CHECK(fixture.transport.prepared == 0);
}

TEST_CASE("a short wait spins and neither yields nor sleeps") {
  auto options = drowsy();
  options.policy = {1000, std::chrono::microseconds(2000)};
  Fixture fixture(options);
  int looks = 0;
  CHECK(fixture.waiter.wait(1, [&] { return ++looks == 500; }).ok());
  CHECK(fixture.counters.yields == 0);
  CHECK(fixture.transport.prepared == 0);
}

TEST_CASE("without spins the first thing is to yield") {
  auto options = drowsy();
  options.policy = {0, std::chrono::microseconds(10'000'000)};
  Fixture fixture(options);
  int looks = 0;
  CHECK(fixture.waiter.wait(1, [&] { return ++looks == 102; }).ok());
  CHECK(fixture.counters.yields == 100);
  CHECK(fixture.counters.sleeps == 0);
}

TEST_CASE("a long wait sleeps, every time after one more look") {
  Fixture fixture;
  std::string order;
  bool ready = false;
  fixture.transport.on_sleep = [&] {
    CHECK(order.back() == 'l');
    order += 's';
    ready = fixture.transport.slept == 3;
  };
  CHECK(fixture.waiter
            .wait(1,
                  [&] {
                    order += 'l';
                    return ready;
                  })
            .ok());
  CHECK(fixture.transport.slept == 3);
  CHECK(fixture.transport.prepared == 3);
  CHECK(fixture.transport.cancelled == 0);
  CHECK(fixture.counters.sleeps == 3);
}

TEST_CASE("what becomes ready between prepare and sleep cancels the sleep") {
  Fixture fixture;
  CHECK(fixture.waiter.wait(1, [&] { return fixture.transport.prepared == 1; }).ok());
  CHECK(fixture.transport.slept == 0);
  CHECK(fixture.transport.cancelled == 1);
}

TEST_CASE("idle work is done between all looks") {
  Fixture fixture;
  int idles = 0;
  fixture.waiter.set_idle([&] { ++idles; });
  CHECK(fixture.waiter.wait(1, [&] { return idles == 50; }).ok());
  CHECK(idles == 50);
}

TEST_CASE("a failure ends a wait with its own text") {
  Fixture fixture;
  fixture.transport.on_sleep = [&] {
    (void)fixture.failure.set({StatusCode::aborted, "rank 3 called abort(): enough"});
  };
  const Status status = fixture.waiter.wait(1, [] { return false; });
  CHECK(status.code() == StatusCode::aborted);
  CHECK(status.message() == "rank 3 called abort(): enough");
  // But what is ready is ready.
  CHECK(fixture.waiter.wait(1, [] { return true; }).ok());
}

TEST_CASE("a wait without progress ends at the limit and names the rank") {
  auto options = drowsy();
  options.progress_limit = std::chrono::milliseconds(5);
  Fixture fixture(options);
  fixture.transport.on_sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const Status status = fixture.waiter.wait(2, [] { return false; });
  CHECK(status.code() == StatusCode::timeout);
  CHECK(status.message() ==
        "nothing came from rank 2 for 0 s; the rank is alive but does not take part: look at what "
        "it is doing, or raise SIRCL_SERVING_WAIT_S");
  const Status any = fixture.waiter.wait(-1, [] { return false; });
  CHECK(any.message().find("nothing came from any rank for") == 0);
}

TEST_CASE("waits that end well do not add up to the limit") {
  auto options = drowsy();
  options.progress_limit = std::chrono::milliseconds(100);
  Fixture fixture(options);
  fixture.transport.on_sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  for (int i = 0; i < 80; ++i) {
    const auto slept = fixture.transport.slept;
    REQUIRE(fixture.waiter.wait(2, [&] { return fixture.transport.slept >= slept + 2; }).ok());
  }
}

TEST_CASE("a slow wait asks what is wrong: the first time is told from the others") {
  Fixture fixture;
  std::vector<bool> calls;
  fixture.waiter.set_slow([&](bool first) { calls.push_back(first); });
  fixture.transport.on_sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(70)); };
  for (int repeat = 0; repeat < 2; ++repeat) {
    calls.clear();
    CHECK(fixture.waiter.wait(1, [&] { return calls.size() == 3; }).ok());
    CHECK(calls == std::vector<bool>{true, false, false});
  }
}

TEST_CASE("a rank that has left is named, unless what it sent is still under way") {
  Fixture fixture;
  fixture.waiter.note_left(2);
  fixture.transport.on_sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  const auto slept = fixture.transport.slept;
  CHECK(fixture.waiter.wait(2, [&] { return fixture.transport.slept == slept + 3; }).ok());
  const Status status = fixture.waiter.wait(2, [] { return false; });
  CHECK(status.code() == StatusCode::peer_lost);
  CHECK(status.message() ==
        "rank 2 has left the communicator and does not take part in this operation; make all ranks "
        "call the same operations before they destroy it");
}
