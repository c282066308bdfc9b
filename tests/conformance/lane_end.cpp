// Endings: what was put arrives, a lost peer is named once and for all, nothing is left behind.
#include <thread>

#include "conformance/transports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::test;
using transport::Lane;

namespace {

constexpr std::size_t kBytes = 32 << 10;

bool names(const Status& status, const std::string& part) {
  return status.message().find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("close lets everything arrive that was put") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  for (const bool fill : {false, true}) {
    auto endpoints = transport_named(name).connect(2, plain_window(4096 + kBytes));
    Lane& from = *endpoints[0]->lane(1);
    std::uint64_t last = 0;
    for (; last < (fill ? 2000 : 3) && from.can_put(); ++last) {
      from.put(4096, pattern(last + 1, kBytes), {}, 0, last + 1);
    }
    // The peer has put something that nobody reads any more: it must not harm what is sent.
    endpoints[1]->lane(0)->put(4096, pattern(9, 100), {}, 0, 1);
    std::thread closing([&] {
      endpoints[0]->close(std::chrono::seconds(20));
      endpoints[0].reset();
    });
    Lane& to = *endpoints[1]->lane(0);
    CHECK(reaches(to, [&] { return flag(to, 0) == last; }));
    closing.join();
    CHECK(holds_pattern({to.window() + 4096, kBytes}, last));
  }
}

TEST_CASE("close ends at its limit when the peer does not read") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096 + kBytes));
  Lane& from = *endpoints[0]->lane(1);
  for (std::uint64_t i = 1; i < 2000 && from.can_put(); ++i) {
    from.put(4096, pattern(i, kBytes), {}, 0, i);
  }
  const auto began = std::chrono::steady_clock::now();
  endpoints[0]->close(std::chrono::milliseconds(50));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(10));
}

TEST_CASE("a lost peer is named, for good, and the other lanes go on") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(4, plain_window(4096 + kBytes));
  endpoints[2].reset();
  for (const std::size_t rank : {0U, 1U, 3U}) {
    Lane& lost = *endpoints[rank]->lane(2);
    if (!transport_named(name).notices_loss) {
      lost.put(4096, pattern(1, 100), {}, 0, 1);  // harmless: the rank's end is noticed elsewhere
      CHECK_FALSE(lost.failed());
      continue;
    }
    REQUIRE(reaches(endpoints, [&] { return lost.failed(); }));
    const Status first = lost.status();
    INFO(first.to_string());
    CHECK(first.code() == StatusCode::peer_lost);
    CHECK(names(first, "rank 2"));
    CHECK_FALSE(lost.can_put());
    for (int i = 0; i < 10; ++i) CHECK_FALSE(lost.progress());
    CHECK(lost.failed());
    CHECK(lost.status().message() == first.message());
  }
  for (std::uint64_t i = 1; i <= 50; ++i) {
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, 3}, std::pair{3, 0}}) {
      Lane& out = *endpoints[static_cast<std::size_t>(from)]->lane(to);
      Lane& in = *endpoints[static_cast<std::size_t>(to)]->lane(from);
      REQUIRE(reaches(endpoints, [&] { return out.can_put(); }));
      out.put(4096, pattern(i, 2000), {}, 0, i);
      REQUIRE(reaches(endpoints, [&] { return flag(in, 0) == i; }));
      REQUIRE(holds_pattern({in.window() + 4096, 2000}, i));
    }
  }
}

TEST_CASE("what a lost peer put before it ended still arrives") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096 + kBytes));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    endpoints[0]->lane(1)->put(4096, pattern(i, kBytes), {}, 0, i);
  }
  endpoints[0].reset();
  Lane& to = *endpoints[1]->lane(0);
  REQUIRE(reaches(to, [&] { return flag(to, 0) == 3 || to.failed(); }));
  CHECK(flag(to, 0) == 3);
  CHECK(holds_pattern({to.window() + 4096, kBytes}, 3));
}

TEST_CASE("a sender that meets a lost peer fails instead of filling its queue") {
  const std::string name = GENERATE(from_range(transport_names()));
  if (!transport_named(name).notices_loss) return;
  INFO(name);
  auto endpoints = transport_named(name).connect(2, plain_window(4096 + kBytes));
  endpoints[1].reset();
  Lane& from = *endpoints[0]->lane(1);
  // Only puts: the sender never looks at what arrives.
  REQUIRE(reaches(endpoints, [&] {
    if (from.can_put()) from.put(4096, pattern(1, kBytes), {}, 0, 1);
    return from.failed();
  }));
  CHECK(names(from.status(), "rank 1"));
}

TEST_CASE("a lane that failed does not keep a sleeper awake or asleep") {
  const std::string name = GENERATE(from_range(transport_names()));
  if (!transport_named(name).notices_loss) return;
  INFO(name);
  auto endpoints = transport_named(name).connect(3, plain_window(4096));
  endpoints[1].reset();
  Lane& lost = *endpoints[0]->lane(1);
  REQUIRE(reaches(endpoints, [&] { return lost.failed(); }));
  // Nothing happens: the sleep runs to its limit, though the socket of rank 1 is at its end.
  const auto began = std::chrono::steady_clock::now();
  endpoints[0]->prepare_sleep();
  endpoints[0]->sleep(std::chrono::milliseconds(30));
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(29));
  // Rank 2 speaks: the sleep ends.
  endpoints[2]->lane(0)->put(0, {}, {}, 0, 1);
  CHECK(reaches(endpoints, [&] {
    endpoints[0]->prepare_sleep();
    endpoints[0]->sleep(std::chrono::milliseconds(1));
    return flag(*endpoints[0]->lane(2), 0) == 1;
  }));
}

TEST_CASE("nothing has a name in /dev/shm, neither during nor after") {
  const std::string name = GENERATE(from_range(transport_names()));
  INFO(name);
  const auto sircls = [] {
    auto all = names_in_dev_shm();
    std::erase_if(all,
                  [](const std::string& each) { return each.find("sircl") == std::string::npos; });
    return all;
  };
  const auto before = sircls();
  {
    const auto endpoints = transport_named(name).connect(3, plain_window(1 << 20));
    CHECK(sircls() == before);
  }
  CHECK(sircls() == before);
}
