// The agreement on cables as one rank sees it: when an operation may start, and in which order of
// the ranks.
#include "comm/fabric_state.hpp"

#include <thread>

#include "support/catch.hpp"

using namespace sircl;
using detail::FabricState;
using topology::Fabric;
using topology::FabricKind;

namespace {

topology::Layout layout_of(Fabric fabric, std::vector<int> positions) {
  topology::Layout layout;
  layout.fabric = fabric;
  layout.placement = *topology::Placement::from_positions(positions);
  for (int cable = 0; cable < topology::cables(fabric); ++cable) {
    const int west = layout.placement.rank(cable);
    const int east = layout.placement.rank((cable + 1) % fabric.size);
    layout.lanes.push_back({cable, {west, "p0", "10.0.0.1"}, {east, "p1", "10.0.0.2"}, 1500});
  }
  return layout;
}

}  // namespace

TEST_CASE("a ring without one cable is a path that begins behind it") {
  const FabricState state(layout_of({FabricKind::ring, 4}, {0, 2, 1, 3}));
  const auto whole = state.order({true, true, true, true});
  CHECK(whole.wiring == schedule::Wiring::ring);
  CHECK(whole.rank_at_position == std::vector<int>{0, 2, 1, 3});
  const auto cut = state.order({true, false, true, true});
  CHECK(cut.wiring == schedule::Wiring::path);
  CHECK(cut.rank_at_position == std::vector<int>{1, 3, 0, 2});
  const auto last = state.order({true, true, true, false});
  CHECK(last.wiring == schedule::Wiring::path);
  CHECK(last.rank_at_position == std::vector<int>{0, 2, 1, 3});
}

TEST_CASE("what a partition is called") {
  const FabricState ring(layout_of({FabricKind::ring, 4}, {0, 1, 2, 3}));
  CHECK(ring.partition({true, true, true, true}).empty());
  CHECK(ring.partition({true, true, false, true}).empty());
  CHECK(ring.partition({true, false, false, true}) ==
        "no cable is left between rank 2 and ranks 0, 1, 3 (down: rank 1 p0 - rank 2 p1, rank 2 p0 "
        "- rank 3 p1); check these cables");
  CHECK(ring.partition({false, true, false, true}).find("ranks 1, 2 and ranks 0, 3") !=
        std::string::npos);
  const FabricState path(layout_of({FabricKind::path, 3}, {1, 0, 2}));
  CHECK(path.partition({true, true}).empty());
  CHECK(path.partition({true, false}).find("ranks 0, 1 and rank 2") != std::string::npos);
}

TEST_CASE("operations go on during an agreement, up to the promise") {
  FabricState state(layout_of({FabricKind::ring, 3}, {0, 1, 2}));
  const std::vector<bool> cut = {true, false, true};
  for (std::uint64_t i = 1; i <= 5; ++i) REQUIRE(state.may_start(i));
  const std::uint64_t promise = state.prepare(cut);
  CHECK(promise > 5);
  std::uint64_t seen = 0, late = 0;
  CHECK(state.heard(seen) == cut);
  CHECK_FALSE(state.heard(seen));
  CHECK(state.heard(late) == cut);  // every listener hears of it
  std::uint64_t next = 6;
  while (next < promise) {
    REQUIRE(state.may_start(next));
    CHECK_FALSE(state.change_before(next));
    ++next;
  }
  CHECK_FALSE(state.may_start(next));
  state.commit(cut, promise + 3);
  for (; next < promise + 3; ++next) {
    REQUIRE(state.may_start(next));
    CHECK_FALSE(state.change_before(next));
  }
  REQUIRE(state.may_start(next));
  const auto order = state.change_before(next);
  REQUIRE(order);
  CHECK(order->wiring == schedule::Wiring::path);
  CHECK_FALSE(state.change_before(next + 1));
}

TEST_CASE("no operation starts beyond a promise, however the threads meet") {
  FabricState state(layout_of({FabricKind::ring, 3}, {0, 1, 2}));
  std::atomic<std::uint64_t> promised{~std::uint64_t{0}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> broken{0};
  std::uint64_t changes = 0;
  std::thread runner([&] {
    for (std::uint64_t i = 1; !stop; ++i) {
      while (!state.may_start(i)) {
        if (stop) return;
        std::this_thread::yield();
      }
      if (i >= promised.load()) ++broken;
      if (state.change_before(i)) ++changes;
    }
  });
  for (int round = 0; round < 500; ++round) {
    std::vector<bool> up(3, true);
    up[1] = round % 2 == 0;
    const std::uint64_t promise = state.prepare(up);
    promised.store(promise);
    std::this_thread::yield();
    promised.store(~std::uint64_t{0});
    state.commit(up, promise);
  }
  stop = true;
  runner.join();
  CHECK(broken == 0);
  CHECK(changes > 0);
}
