// Whatever connects to the root: it neither disturbs the group nor stays.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bootstrap/protocol.hpp"
#include "bootstrap_support.hpp"
#include "sys/socket.hpp"

using namespace sircl;
using namespace sircl::test;

namespace {

sys::Fd call(const Root& root) {
  auto fd = sys::connect_to(root.host(), root.port(), 5s);
  INFO(fd.status().to_string());
  REQUIRE(fd.ok());
  return *std::move(fd);
}

/// Whether the root hangs up within `limit`, whatever it says before.
bool is_dropped(const sys::Fd& fd, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::array<std::byte, 4096> buffer;
  while (std::chrono::steady_clock::now() < end) {
    pollfd entry{fd.get(), POLLIN, 0};
    poll(&entry, 1, 50);
    const ssize_t got = recv(fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return true;
  }
  return false;
}

void say(const sys::Fd& fd, std::span<const std::byte> bytes) {
  (void)send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Bytes good_hello(const RootOptions& options) {
  bootstrap::Hello hello;
  hello.rank = 1;
  hello.size = options.size;
  hello.epoch = options.epoch;
  hello.group = options.group;
  return bootstrap::encode(hello, options.secret, {});
}

}  // namespace

TEST_CASE("a group meets while two hundred strangers are silent") {
  const RootOptions options = root_options(2);
  const auto root = start_root(options);
  std::vector<sys::Fd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(call(*root));
  const auto begin = std::chrono::steady_clock::now();
  const auto texts = on_ranks(2, [&](int rank) {
    auto member = Member::join(join_options(*root, options, rank));
    return member ? (*member)->all_gather({}, "start").status().to_string()
                  : member.status().to_string();
  });
  CHECK(texts == std::vector<std::string>{"ok", "ok"});
  CHECK(std::chrono::steady_clock::now() - begin < 2s);
  CHECK(std::all_of(silent.begin(), silent.end(),
                    [](const sys::Fd& fd) { return is_dropped(fd, 10s); }));
}

TEST_CASE("noise, halves, drips and broken frames are dropped, and the group goes on") {
  RootOptions options = root_options(2);
  options.secret = "secret";
  const auto root = start_root(options);
  auto member = *Member::join(join_options(*root, options, 0));

  const sys::Fd web = call(*root);
  say(web, bytes_of("GET / HTTP/1.1\r\nHost: root\r\n\r\n"));
  CHECK(is_dropped(web, 1s));

  const sys::Fd half = call(*root);
  const Bytes hello = good_hello(options);
  say(half, std::span(hello).first(100));
  const sys::Fd drip = call(*root);
  const Bytes slow = good_hello(options);
  std::thread dripping([&] {
    for (int i = 0; i < 30; ++i) {
      say(drip, std::span(slow).subspan(static_cast<std::size_t>(i), 1));
      std::this_thread::sleep_for(100ms);
    }
  });
  CHECK(is_dropped(half, 10s));
  CHECK(is_dropped(drip, 10s));
  dripping.join();

  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const sys::Fd fd = call(*root);
    Bytes noise(1 + random() % 500);
    for (auto& b : noise) b = static_cast<std::byte>(random());
    if (i % 2 == 0)
      std::copy_n(good_hello(options).begin(), std::min<std::size_t>(8, noise.size()),
                  noise.begin());
    say(fd, noise);
    shutdown(fd.get(), SHUT_WR);
    CHECK(is_dropped(fd, 10s));
  }
  // A replayed hello is signed for another greeting.
  const sys::Fd replay = call(*root);
  say(replay, good_hello(options));
  Bytes heard(bootstrap::kGreetingBytes + bootstrap::kAnswerBytes);
  REQUIRE(sys::receive_all(replay.get(), heard, 5s));
  const auto answer = bootstrap::decode_answer(std::span(heard).subspan(bootstrap::kGreetingBytes),
                                               options.secret, {});
  REQUIRE(answer);
  CHECK(answer->answer.code == StatusCode::refused);

  auto second = *Member::join(join_options(*root, options, 1));
  const auto texts = on_ranks(2, [&](int rank) {
    return (rank == 0 ? member : second)->all_gather({}, "start").status().to_string();
  });
  CHECK(texts == std::vector<std::string>{"ok", "ok"});
}

TEST_CASE("another version is told so, whatever the length of its hello") {
  const RootOptions options = root_options(2);
  const auto root = start_root(options);
  const sys::Fd fd = call(*root);
  Bytes hello = good_hello(options);
  hello[4] = std::byte{99};
  say(fd, std::span(hello).first(8));
  Bytes heard(bootstrap::kGreetingBytes + bootstrap::kAnswerBytes);
  REQUIRE(sys::receive_all(fd.get(), heard, 5s));
  const auto answer =
      bootstrap::decode_answer(std::span(heard).subspan(bootstrap::kGreetingBytes), "", {});
  REQUIRE(answer);
  CHECK(contains(answer->answer.text, "this rank 99"));
}
