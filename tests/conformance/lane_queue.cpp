// Full queues: posting never blocks, says no, and recovers without losing or tearing anything.
#include <deque>

#include "conformance/transports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::test;
using transport::Lane;

namespace {

constexpr std::size_t kBytes = 48 << 10;
constexpr std::uint64_t kEnough = 4000;  // puts of kBytes that no queue of the system holds

/// Puts with numbers `next`, ... while the lane takes them; the receiver does nothing. Every put
/// has a flag word of its own, so that all of them can be told apart. Returns the next number.
std::uint64_t fill(Lane& lane, std::uint64_t next) {
  for (std::uint64_t end = next + kEnough; next < end && lane.can_put(); ++next) {
    auto source = pattern(next, kBytes);
    lane.put(4096, std::span<const std::byte>(source).first(100),
             std::span<const std::byte>(source).subspan(100), 0, next);
    // What the kernel did not take must have been copied by now.
    std::fill(source.begin(), source.end(), std::byte{0xEE});
  }
  return next;
}

}  // namespace

TEST_CASE("a queue that is full says so, and recovers when the peer reads") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096 + kBytes));
  Lane& from = *endpoints[0]->lane(1);
  Lane& to = *endpoints[1]->lane(0);
  std::uint64_t next = 1;
  for (int round = 0; round < 3; ++round) {
    next = fill(from, next);
    CHECK(from.can_put() != transport_named(name).queue_fills);
    CHECK_FALSE(from.failed());
    CHECK_FALSE(to.failed());
    // The receiver catches up alone; then the sender may go on. Whatever flag is seen, the bytes
    // of a later put may be on their way, but those of the last one are whole.
    REQUIRE(reaches(endpoints, [&] { return flag(to, 0) == next - 1; }));
    CHECK(holds_pattern({to.window() + 4096, kBytes}, next - 1));
    CHECK(from.can_put());
  }
}

TEST_CASE("full queues of both directions drain each other") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096 + kBytes));
  Lane& one = *endpoints[0]->lane(1);
  Lane& other = *endpoints[1]->lane(0);
  const std::uint64_t sent = fill(one, 1);
  const std::uint64_t answered = fill(other, 1);
  REQUIRE(reaches(endpoints,
                  [&] { return flag(other, 0) == sent - 1 && flag(one, 0) == answered - 1; }));
  CHECK(holds_pattern({other.window() + 4096, kBytes}, sent - 1));
  CHECK(holds_pattern({one.window() + 4096, kBytes}, answered - 1));
}

TEST_CASE("a full queue to one rank does not hold up another") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(3, plain_window(4096 + kBytes));
  (void)fill(*endpoints[0]->lane(1), 1);  // rank 1 never reads
  Lane& from = *endpoints[0]->lane(2);
  Lane& to = *endpoints[2]->lane(0);
  for (std::uint64_t i = 1; i <= 200; ++i) {
    REQUIRE(reaches(to, [&] { return from.can_put(); }));
    from.put(4096, pattern(i, 300), {}, 0, i);
    REQUIRE(reaches(to, [&] { return flag(to, 0) == i; }));
    REQUIRE(holds_pattern({to.window() + 4096, 300}, i));
  }
}
