// What a put does: bytes before the flag, order, sizes, sources, redirection, the mapped peer.
#include <array>
#include <cstring>
#include <thread>

#include "conformance/transports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::test;
using transport::Lane;

namespace {

constexpr std::size_t kData = 4096;  // flags lie below
constexpr std::size_t kSlot = 64 << 10;

}  // namespace

TEST_CASE("a lane leads to every other rank, and the window is aligned for flags") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  for (int ranks = 2; ranks <= 5; ++ranks) {
    const auto endpoints = transport_named(name).connect(ranks, plain_window(4096));
    for (int rank = 0; rank < ranks; ++rank) {
      transport::Transport& mine = *endpoints[static_cast<std::size_t>(rank)];
      CHECK(mine.name() == name);
      CHECK(mine.memory_bytes() > 0);
      for (int peer = 0; peer < ranks; ++peer) {
        REQUIRE((mine.lane(peer) == nullptr) == (peer == rank));
        if (peer == rank) continue;
        Lane& lane = *mine.lane(peer);
        CHECK(reinterpret_cast<std::uintptr_t>(lane.window()) % 8 == 0);
        CHECK(lane.can_put());
        CHECK_FALSE(lane.failed());
        CHECK(lane.status().ok());
      }
    }
  }
}

TEST_CASE("puts of any size arrive whole, cut into head and body anywhere") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(kData + kSlot));
  Lane& from = *endpoints[0]->lane(1);
  Lane& to = *endpoints[1]->lane(0);
  std::uint64_t count = 0;
  for (const std::size_t bytes : {0UL, 1UL, 7UL, 64UL, 65UL, 4095UL, 4096UL, 4097UL, kSlot}) {
    for (const std::size_t head : {std::size_t{0}, std::size_t{1}, bytes / 2, bytes}) {
      if (head > bytes) continue;
      ++count;
      auto source = pattern(count, bytes);
      const std::span<const std::byte> all(source);
      std::memset(to.window() + kData, 0, kSlot);
      REQUIRE(reaches(endpoints, [&] { return from.can_put(); }));
      from.put(kData, all.first(head), all.subspan(head), 8, count);
      std::fill(source.begin(), source.end(), std::byte{0xEE});  // the source is ours again
      REQUIRE(reaches(endpoints, [&] { return flag(to, 8) == count; }));
      INFO(bytes << " bytes, " << head << " of them in the head");
      REQUIRE(holds_pattern({to.window() + kData, bytes}, count));
      for (std::size_t i = bytes; i < kSlot; ++i) {
        if (to.window()[kData + i] != std::byte{0}) FAIL("byte " << i << " was written too");
      }
    }
  }
}

TEST_CASE("a put touches nothing but its bytes and its flag, up to the window's last byte") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr std::size_t kWindow = 4096;
  auto endpoints = transport_named(name).connect(2, plain_window(kWindow));
  Lane& from = *endpoints[0]->lane(1);
  Lane& to = *endpoints[1]->lane(0);
  const auto source = pattern(3, 100);
  from.put(kWindow - 108, source, {}, kWindow - 8, 7);
  REQUIRE(reaches(endpoints, [&] { return flag(to, kWindow - 8) == 7; }));
  CHECK(holds_pattern({to.window() + kWindow - 108, 100}, 3));
  for (std::size_t i = 0; i < kWindow - 108; ++i) {
    if (to.window()[i] != std::byte{0}) FAIL("byte " << i << " was written too");
  }
  // Nor anything of the sender's own window.
  for (std::size_t i = 0; i < kWindow; ++i) {
    if (from.window()[i] != std::byte{0}) FAIL("byte " << i << " of the sender was written");
  }
}

// Writer and reader run at the same time. Whoever sees a flag must see all bytes of its put.
TEST_CASE("a flag is visible only after the bytes of its put") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr std::uint64_t kPuts = 800;
  constexpr std::size_t kBytes = 3000;
  auto endpoints = transport_named(name).connect(2, plain_window(kData + kBytes));
  std::thread writer([&] {
    Lane& lane = *endpoints[0]->lane(1);
    for (std::uint64_t i = 1; i <= kPuts; ++i) {
      const std::vector<std::byte> bytes(1 + i * 37 % kBytes, static_cast<std::byte>(i));
      if (!reaches(lane, [&] { return lane.can_put() && flag(lane, 64) == i - 1; })) return;
      const std::size_t head = i % bytes.size();
      lane.put(kData, std::span(bytes).first(head), std::span(bytes).subspan(head), 0, i);
    }
    reaches(lane, [&] { return flag(lane, 64) == kPuts; });
  });
  Lane& lane = *endpoints[1]->lane(0);
  std::uint64_t wrong = 0;
  std::uint64_t seen = 0;
  while (seen < kPuts && wrong == 0 && reaches(lane, [&] { return flag(lane, 0) > seen; })) {
    seen = flag(lane, 0);
    const std::size_t size = 1 + seen * 37 % kBytes;
    for (std::size_t at = 0; at < size; ++at) {
      if (lane.window()[kData + at] != static_cast<std::byte>(seen)) ++wrong;
    }
    if (!reaches(lane, [&] { return lane.can_put(); })) break;
    lane.put(0, {}, {}, 64, seen);
  }
  CHECK(wrong == 0);
  CHECK(seen == kPuts);
  // The last acknowledgement may still stand in the queue.
  for (int i = 0; i < 1000 && !lane.can_put(); ++i) lane.progress();
  writer.join();
}

TEST_CASE("puts become visible in posting order") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  constexpr std::uint64_t kPuts = 20'000;
  auto endpoints = transport_named(name).connect(2, plain_window(kData));
  std::thread writer([&] {
    Lane& lane = *endpoints[0]->lane(1);
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      if (!reaches(lane, [&] { return lane.can_put(); })) return;
      // Three flags in turn: the put with number i sets flag i % 3 to i + 1.
      lane.put(0, {}, {}, i % 3 * 64, i + 1);
    }
    reaches(lane, [&] { return lane.can_put(); });
  });
  Lane& lane = *endpoints[1]->lane(0);
  std::uint64_t disordered = 0;
  std::uint64_t newest = 0;
  const bool all = reaches(lane, [&] {
    // Newest flag first: those put before it must be there when looked at afterwards.
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t value = flag(lane, i * 64);
      newest = std::max(newest, value);
      for (std::uint64_t before = 1; before <= 2 && value > before; ++before) {
        const std::uint64_t other = flag(lane, (value - before - 1) % 3 * 64);
        if (other < value - before) ++disordered;
      }
    }
    return newest == kPuts;
  });
  CHECK(disordered == 0);
  CHECK(all);
  writer.join();
}

TEST_CASE("all lanes carry at once") {
  const std::string name = GENERATE(from_range(transport_names()));
  const int ranks = GENERATE(2, 3, 4, 5);
  INFO(name << ", " << ranks << " ranks");
  constexpr std::size_t kBytes = 5000;
  constexpr std::uint64_t kRounds = 20;
  auto endpoints = transport_named(name).connect(ranks, plain_window(kData + kBytes));
  const auto lane = [&](int rank, int peer) -> Lane& {
    return *endpoints[static_cast<std::size_t>(rank)]->lane(peer);
  };
  const auto seed = [](std::uint64_t round, int from, int to) {
    return round * 100 + static_cast<std::uint64_t>(from * 10 + to);
  };
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        if (from == to) continue;
        REQUIRE(reaches(endpoints, [&] { return lane(from, to).can_put(); }));
        lane(from, to).put(kData, {}, pattern(seed(round, from, to), kBytes), 0, round);
      }
    }
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        if (from == to) continue;
        Lane& in = lane(to, from);
        REQUIRE(reaches(endpoints, [&] { return flag(in, 0) == round; }));
        INFO("round " << round << ", from " << from << " to " << to);
        REQUIRE(holds_pattern({in.window() + kData, kBytes}, seed(round, from, to)));
      }
    }
  }
}

TEST_CASE("a mapped peer is the peer's window; where it is not mapped there is none") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(3, plain_window(kData));
  for (int rank = 0; rank < 3; ++rank) {
    for (int peer = 0; peer < 3; ++peer) {
      if (rank == peer) continue;
      Lane& mine = *endpoints[static_cast<std::size_t>(rank)]->lane(peer);
      Lane& theirs = *endpoints[static_cast<std::size_t>(peer)]->lane(rank);
      std::byte* const mapped = mine.mapped_peer();
      if (mapped == nullptr) continue;
      const auto seed = static_cast<std::uint64_t>(rank * 10 + peer);
      const auto bytes = pattern(seed, 500);
      std::memcpy(mapped + 1024 + 100, bytes.data() + 100, 400);
      // The head is put, the rest was written in place.
      mine.put(1024, std::span(bytes).first(100), {}, 8, seed + 1);
      REQUIRE(reaches(endpoints, [&] { return flag(theirs, 8) == seed + 1; }));
      CHECK(holds_pattern({theirs.window() + 1024, 500}, seed));
    }
  }
}

TEST_CASE("a redirected range is stored elsewhere, or the wish is refused and nothing changes") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(kData + 1000));
  Lane& from = *endpoints[0]->lane(1);
  Lane& to = *endpoints[1]->lane(0);
  std::vector<std::byte> elsewhere(400, std::byte{0x11});
  const bool taken = to.redirect(kData + 100, elsewhere);
  CHECK(taken == transport_named(name).can_redirect);

  const auto bytes = pattern(1, 600);
  from.put(kData, {}, bytes, 0, 1);
  REQUIRE(reaches(endpoints, [&] { return flag(to, 0) == 1; }));
  const std::span<const std::byte> window(to.window() + kData, 600);
  const auto part = [](std::span<const std::byte> all, std::size_t first, std::size_t count) {
    const auto piece = all.subspan(first, count);
    return std::vector<std::byte>(piece.begin(), piece.end());
  };
  CHECK(part(window, 0, 100) == part(bytes, 0, 100));
  CHECK(part(window, 500, 100) == part(bytes, 500, 100));
  if (taken) {
    CHECK(elsewhere == part(bytes, 100, 400));
    CHECK(part(window, 100, 400) == std::vector<std::byte>(400));
  } else {
    CHECK(elsewhere == std::vector<std::byte>(400, std::byte{0x11}));
    CHECK(part(window, 100, 400) == part(bytes, 100, 400));
  }

  REQUIRE(to.redirect(0, {}));
  from.put(kData, {}, pattern(2, 600), 0, 2);
  REQUIRE(reaches(endpoints, [&] { return flag(to, 0) == 2; }));
  CHECK(holds_pattern({to.window() + kData, 600}, 2));
}

// The memory that was lent must not be touched once the redirection has ended, wherever in a put
// that happens, and no byte may be lost.
TEST_CASE("a redirection may end in the middle of a put") {
  const std::string name = GENERATE(from_range(transport_names()));
  if (!transport_named(name).can_redirect) return;
  INFO(name);
  constexpr std::size_t kBytes = 16 << 20;  // more than a kernel takes at once
  auto endpoints = transport_named(name).connect(2, plain_window(kData + kBytes));
  Lane& from = *endpoints[0]->lane(1);
  Lane& to = *endpoints[1]->lane(0);
  std::uint64_t ended_amid = 0;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    std::vector<std::byte> elsewhere(kBytes);
    (void)to.redirect(kData, elsewhere);
    REQUIRE(reaches(endpoints, [&] { return from.can_put(); }));
    from.put(kData, {}, pattern(round, kBytes), 0, round);
    bool begun = false;
    for (std::uint64_t step = 0; step < round; ++step) {
      from.progress();
      begun = to.progress() || begun;
    }
    if (flag(to, 0) == round) {  // it had ended already: the bytes are where they were wanted
      CHECK(holds_pattern(elsewhere, round));
      (void)to.redirect(0, {});
      continue;
    }
    if (begun) ++ended_amid;
    (void)to.redirect(0, {});
    const auto before = elsewhere;
    REQUIRE(reaches(endpoints, [&] { return flag(to, 0) == round; }));
    CHECK(std::memcmp(elsewhere.data(), before.data(), kBytes) == 0);
    REQUIRE(holds_pattern({to.window() + kData, kBytes}, round));
  }
  CHECK(ended_amid > 0);
}
