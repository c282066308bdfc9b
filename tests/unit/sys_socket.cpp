// Sockets of the management network: ports, connections, whole transfers, addresses.
#include "sys/socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/ranks.hpp"

using namespace sircl;
using namespace sircl::sys;
using namespace std::chrono_literals;

namespace {

Listening listening(const std::string& host, std::uint16_t port = 0) {
  auto result = listen_on(host, port, 0);
  INFO(result.status().to_string());
  REQUIRE(result.ok());
  return *std::move(result);
}

int integer_option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  getsockopt(fd, level, name, &value, &size);
  return value;
}

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    one = Fd(ends[0]);
    other = Fd(ends[1]);
  }
  Fd one, other;
};

}  // namespace

TEST_CASE("a port is chosen, told and reachable") {
  for (const std::string host : {"127.0.0.1", "localhost", "::1"}) {
    auto result = listen_on(host, 0, 0);
    if (host == "::1" && !result) continue;  // a host without IPv6
    INFO(host << ": " << result.status().to_string());
    REQUIRE(result.ok());
    CHECK(result->port > 0);
    const auto connected = connect_to(host, result->port, 5s);
    INFO(connected.status().to_string());
    REQUIRE(connected.ok());
    CHECK((fcntl(connected->get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((fcntl(connected->get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(integer_option(connected->get(), IPPROTO_TCP, TCP_NODELAY) == 1);
  }
}

TEST_CASE("an occupied port is named with the remedy; a range goes on") {
  const auto first = listening("127.0.0.1");
  const auto again = listen_on("127.0.0.1", first.port, 0);
  REQUIRE_FALSE(again.ok());
  CHECK(again.status().code() == StatusCode::resource);
  CHECK(again.status().message() ==
        fmt::format("cannot listen on 127.0.0.1:{} (Address already in use); free the port, or "
                    "choose another in SIRCL_ROOT or SIRCL_PORT_RANGE",
                    first.port));
  if (first.port > 65000) return;
  const auto next = listen_on("127.0.0.1", first.port, static_cast<std::uint16_t>(first.port + 50));
  REQUIRE(next.ok());
  CHECK(next->port > first.port);
}

TEST_CASE("a whole range that is occupied is named as a range") {
  // Two neighbours that are free now: found by trying.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto low = listening("127.0.0.1");
    const auto above = static_cast<std::uint16_t>(low.port + 1);
    const auto high = listen_on("127.0.0.1", above, 0);
    if (!high) continue;
    const auto refused = listen_on("127.0.0.1", low.port, above);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.status().message().find(
              fmt::format("cannot listen on 127.0.0.1 ports {} to {} (Address already in use)",
                          low.port, above)) == 0);
    return;
  }
}

TEST_CASE("an address of another host, and a name of none") {
  const auto foreign = listen_on("192.0.2.1", 0, 0);
  REQUIRE_FALSE(foreign.ok());
  CHECK(foreign.status().code() == StatusCode::resource);
  CHECK(foreign.status().message() ==
        "cannot listen on 192.0.2.1:0 (Cannot assign requested address): it is no address of this "
        "host; start rank 0 on the host that SIRCL_ROOT or MASTER_ADDR names");
  const auto unknown = listen_on("no such name", 0, 0);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.status().code() == StatusCode::unreachable);
  CHECK(unknown.status().message().find("cannot resolve 'no such name': ") == 0);
  const auto nowhere = connect_to("no such name", 1, 1s);
  REQUIRE_FALSE(nowhere.ok());
  CHECK(nowhere.status().message().find("cannot resolve 'no such name': ") == 0);
}

TEST_CASE("a port that needs more rights is named") {
  int first_free = 1024;
  std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> first_free;
  if (first_free <= 1) return;  // every port is anybody's here
  test::Ranks child(1, [](int) -> std::string {
    if (geteuid() == 0 && setuid(65534) != 0) return "skipped";
    return listen_on("127.0.0.1", 1, 0).status().to_string();
  });
  const std::string text = child.wait(0).text;
  if (text == "skipped") return;
  CHECK(text.find("resource: cannot listen on 127.0.0.1:1 (Permission denied); free the port, or "
                  "choose another") == 0);
}

TEST_CASE("nobody listens: the numeric address and the reason") {
  std::uint16_t port = 0;
  { port = listening("127.0.0.1").port; }
  const auto refused = connect_to("localhost", port, 5s);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().code() == StatusCode::unreachable);
  const std::string text = refused.status().message();
  CHECK(text.find(fmt::format(":{}: Connection refused", port)) != std::string::npos);
  CHECK((text.find("127.0.0.1") == 0 || text.find("[::1]") == 0));
}

TEST_CASE("a call that nobody answers ends at its limit") {
  // A listener whose queue is full: further calls are neither taken nor refused.
  Fd full(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  REQUIRE(bind(full.get(), reinterpret_cast<sockaddr*>(&where), size) == 0);
  REQUIRE(listen(full.get(), 0) == 0);
  REQUIRE(getsockname(full.get(), reinterpret_cast<sockaddr*>(&where), &size) == 0);
  const std::uint16_t port = ntohs(where.sin_port);
  std::vector<Fd> callers;
  for (int i = 0; i < 8; ++i) {
    auto call = connect_to("127.0.0.1", port, 200ms);
    if (!call) {
      CHECK(call.status().message() == fmt::format("127.0.0.1:{}: Connection timed out", port));
      return;
    }
    callers.push_back(*std::move(call));
  }
}

TEST_CASE("whole transfers, in whatever pieces they come") {
  const Pair pair;
  std::vector<std::byte> sent(5 << 20);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 31 >> 3);
  std::vector<std::byte> got(sent.size());
  bool all_sent = false;
  std::thread sender([&] { all_sent = send_all(pair.one.get(), sent, 20s); });
  CHECK(receive_all(pair.other.get(), got, 20s));
  sender.join();
  CHECK(all_sent);
  CHECK(got == sent);
  CHECK(send_all(pair.one.get(), {}, 0ms));
  CHECK(receive_all(pair.other.get(), {}, 0ms));
}

TEST_CASE("a transfer that stalls or breaks is false, without a signal") {
  std::vector<std::byte> bytes(8 << 20);
  {
    const Pair pair;
    CHECK_FALSE(send_all(pair.one.get(), bytes, 20ms));     // nobody reads
    CHECK_FALSE(receive_all(pair.one.get(), bytes, 20ms));  // nobody writes
  }
  {
    Pair pair;
    CHECK(send_all(pair.other.get(), std::span(bytes).first(100), 1s));
    pair.other.reset();
    CHECK_FALSE(receive_all(pair.one.get(), std::span(bytes).first(101), 20s));  // ends too early
    CHECK_FALSE(send_all(pair.one.get(), bytes, 20s));                           // a closed pipe
  }
}

TEST_CASE("keep-alive is set as the limit asks") {
  const auto there = listening("127.0.0.1");
  const auto fd = connect_to("127.0.0.1", there.port, 5s);
  REQUIRE(fd.ok());
  watch_liveness(fd->get(), 10s);
  CHECK(integer_option(fd->get(), SOL_SOCKET, SO_KEEPALIVE) == 1);
  const int idle = integer_option(fd->get(), IPPROTO_TCP, TCP_KEEPIDLE);
  const int step = integer_option(fd->get(), IPPROTO_TCP, TCP_KEEPINTVL);
  const int probes = integer_option(fd->get(), IPPROTO_TCP, TCP_KEEPCNT);
  CHECK(idle + step * probes <= 10);
  CHECK(idle + step * probes >= 5);
  CHECK(integer_option(fd->get(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 10'000);
  watch_liveness(fd->get(), 1ms);  // a second at least
  CHECK(integer_option(fd->get(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 1000);
}

TEST_CASE("what kind of address it is") {
  CHECK(is_loopback("127.0.0.1"));
  CHECK(is_loopback("127.8.9.10"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("10.0.0.1"));
  CHECK_FALSE(is_loopback("0.0.0.0"));
  CHECK_FALSE(is_loopback("no such name"));
  CHECK(is_wildcard("0.0.0.0"));
  CHECK(is_wildcard("::"));
  CHECK_FALSE(is_wildcard("127.0.0.1"));
  CHECK_FALSE(is_wildcard("localhost"));
  CHECK_FALSE(is_wildcard(""));
  CHECK(is_numeric("198.18.0.1"));
  CHECK(is_numeric("fe80::1"));
  CHECK_FALSE(is_numeric("localhost"));
  CHECK(with_port("10.0.0.1", 80) == "10.0.0.1:80");
  CHECK(with_port("fe80::1", 80) == "[fe80::1]:80");
  CHECK(with_port("box", 65535) == "box:65535");
}
