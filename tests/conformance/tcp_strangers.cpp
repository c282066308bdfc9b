// A TCP listener hears strangers, scanners and silence; only the ranks of the group come in.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <thread>

#include "conformance/transports.hpp"
#include "support/catch.hpp"
#include "sys/fd.hpp"
#include "transport/tcp/tcp_transport.hpp"

using namespace sircl;
using namespace sircl::test;
using transport::tcp::Parameters;
using transport::tcp::TcpListener;

namespace {

constexpr std::size_t kHelloBytes = 32;

Parameters parameters_of(int rank, int ranks) {
  Parameters parameters;
  parameters.rank = rank;
  parameters.ranks = ranks;
  parameters.host = "127.0.0.1";
  parameters.shape = {2, 1024, 8192};
  parameters.token.fill(std::byte{0x42});
  parameters.timeout = std::chrono::seconds(30);
  return parameters;
}

std::unique_ptr<TcpListener> listener_of(const Parameters& parameters) {
  auto listener = TcpListener::listen(parameters);
  INFO(listener.status().to_string());
  REQUIRE(listener.ok());
  return *std::move(listener);
}

/// A plain socket to `address` that has sent `bytes`.
sys::Fd stranger(const std::string& address, std::span<const std::byte> bytes) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &where.sin_addr);
  sys::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0);
  if (!bytes.empty()) {
    REQUIRE(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  return fd;
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// What a true rank says first, recorded from one.
std::vector<std::byte> hello_of(Parameters caller) {
  const sys::Fd listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof any;
  REQUIRE(bind(listening.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
  REQUIRE(listen(listening.get(), 4) == 0);
  REQUIRE(getsockname(listening.get(), reinterpret_cast<sockaddr*>(&any), &size) == 0);
  const std::string here = fmt::format("127.0.0.1:{}", ntohs(any.sin_port));
  caller.cancelled = [] { return true; };  // calls, but waits for nobody
  const auto listener = listener_of(caller);
  (void)listener->connect(std::vector<std::string>(static_cast<std::size_t>(caller.ranks), here));
  const sys::Fd accepted(accept(listening.get(), nullptr, nullptr));
  std::vector<std::byte> hello(kHelloBytes);
  REQUIRE(recv(accepted.get(), hello.data(), hello.size(), MSG_WAITALL) ==
          static_cast<ssize_t>(hello.size()));
  return hello;
}

/// Whether the other side has closed the connection (after whatever it sent).
bool is_closed(const sys::Fd& fd) {
  const timeval limit{20, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::array<std::byte, 64> ignored{};
  ssize_t got = 0;
  while ((got = recv(fd.get(), ignored.data(), ignored.size(), 0)) > 0) {
  }
  return got == 0 || errno == ECONNRESET;
}

}  // namespace

TEST_CASE("strangers do not become ranks, and a true rank still does") {
  const auto root = listener_of(parameters_of(0, 2));
  const std::string where = root->local_address();
  const auto good = hello_of(parameters_of(1, 2));
  const auto changed = [&good](std::size_t at, std::uint8_t mask) {
    auto hello = good;
    hello[at] ^= static_cast<std::byte>(mask);
    return hello;
  };
  std::vector<sys::Fd> refused;
  refused.push_back(stranger(where, bytes_of("GET / HTTP/1.1\r\nHost: here\r\n\r\n.........")));
  refused.push_back(stranger(where, std::vector<std::byte>(4096)));
  refused.push_back(stranger(where, changed(0, 1)));      // magic
  refused.push_back(stranger(where, changed(4, 5)));      // byte order
  refused.push_back(stranger(where, changed(8, 1)));      // claims to be rank 0
  refused.push_back(stranger(where, changed(8, 0x40)));   // rank 65
  refused.push_back(stranger(where, changed(11, 0x80)));  // a negative rank
  refused.push_back(stranger(where, changed(13, 1)));     // another slot size
  for (std::size_t i = 16; i < kHelloBytes; ++i) {
    refused.push_back(stranger(where, changed(i, 1)));  // token
  }
  std::vector<sys::Fd> silent;
  silent.push_back(stranger(where, {}));
  silent.push_back(stranger(where, std::span(good).first(kHelloBytes - 1)));
  (void)stranger(where, {});                         // gone at once
  (void)stranger(where, std::span(good).first(10));  // gone in the middle

  const auto second = listener_of(parameters_of(1, 2));
  auto caller = second->connect({where, second->local_address()});
  REQUIRE(caller.ok());
  auto called = root->connect({where, second->local_address()});
  INFO(called.status().to_string());
  REQUIRE(called.ok());

  // The lane is to the true rank.
  Endpoints endpoints;
  endpoints.push_back(*std::move(called));
  endpoints.push_back(*std::move(caller));
  endpoints[1]->lane(0)->put(64, pattern(5, 200), {}, 0, 5);
  transport::Lane& lane = *endpoints[0]->lane(1);
  REQUIRE(reaches(endpoints, [&] { return flag(lane, 0) == 5; }));
  CHECK(holds_pattern({lane.window() + 64, 200}, 5));
  for (const sys::Fd& each : refused) CHECK(is_closed(each));
}

TEST_CASE("a second caller with the place of a rank that is there already is refused") {
  const auto root = listener_of(parameters_of(0, 3));
  const std::string where = root->local_address();
  const auto first = listener_of(parameters_of(1, 3));
  const auto second = listener_of(parameters_of(2, 3));
  const std::vector<std::string> all = {where, first->local_address(), second->local_address()};
  auto highest = second->connect(all);
  REQUIRE(highest.ok());
  const auto copy = stranger(where, hello_of(parameters_of(2, 3)));
  auto middle = first->connect(all);
  REQUIRE(middle.ok());
  auto lowest = root->connect(all);
  REQUIRE(lowest.ok());
  Endpoints endpoints;
  endpoints.push_back(*std::move(lowest));
  endpoints.push_back(*std::move(middle));
  endpoints.push_back(*std::move(highest));
  endpoints[2]->lane(0)->put(0, {}, {}, 0, 77);
  CHECK(reaches(endpoints, [&] { return flag(*endpoints[0]->lane(2), 0) == 77; }));
  CHECK(is_closed(copy));
}

TEST_CASE("ranks that never call are named when the time is over, whatever strangers do") {
  auto parameters = parameters_of(0, 4);
  parameters.timeout = std::chrono::milliseconds(1200);
  const auto root = listener_of(parameters);
  const std::string where = root->local_address();
  auto of_second = parameters_of(2, 4);
  of_second.cancelled = [] { return true; };  // calls ranks 0 and 1, but does not wait for rank 3
  const auto second = listener_of(of_second);
  (void)second->connect({where, second->local_address(), "", ""});
  const auto silent = stranger(where, {});
  const auto noisy = stranger(where, std::vector<std::byte>(100'000, std::byte{0x55}));
  const auto connected = root->connect({where, "10.1.1.1:1", "10.1.1.2:2", "10.1.1.3:3"});
  REQUIRE_FALSE(connected.ok());
  INFO(connected.status().to_string());
  CHECK(connected.status().code() == StatusCode::unreachable);
  CHECK(
      connected.status().message() ==
      fmt::format("rank 0 at {} was not called by rank 1 (10.1.1.1:1), rank 3 (10.1.1.3:3) within "
                  "1 s; check the network between them",
                  where));
}

TEST_CASE("connecting can be cancelled") {
  auto parameters = parameters_of(0, 2);
  int polls = 0;
  parameters.cancelled = [&polls] { return ++polls > 3; };
  const auto connected = listener_of(parameters)->connect({"", ""});
  REQUIRE_FALSE(connected.ok());
  CHECK(connected.status().code() == StatusCode::aborted);
  CHECK(connected.status().message() == "connecting was cancelled");
}

TEST_CASE("a rank that cannot be reached is named with its address and the reason") {
  std::string gone;
  { gone = listener_of(parameters_of(0, 2))->local_address(); }
  const auto second = listener_of(parameters_of(1, 2));
  const auto connected = second->connect({gone, second->local_address()});
  REQUIRE_FALSE(connected.ok());
  CHECK(connected.status().code() == StatusCode::unreachable);
  CHECK(connected.status().message() ==
        fmt::format("rank 1 cannot reach rank 0 at {} (Connection refused); check the network "
                    "between them and SIRCL_TCP_HOST",
                    gone));
}

TEST_CASE("addresses that mean nothing are errors that name the setting") {
  auto parameters = parameters_of(1, 2);
  parameters.host = "192.0.2.1";  // of no host
  const auto foreign = TcpListener::listen(parameters);
  REQUIRE_FALSE(foreign.ok());
  CHECK(foreign.status().code() == StatusCode::resource);
  CHECK(foreign.status().message() ==
        "cannot listen on 192.0.2.1 (Cannot assign requested address); set SIRCL_TCP_HOST to an "
        "address of this host");

  parameters.host = "not an address";
  const auto malformed = TcpListener::listen(parameters);
  REQUIRE_FALSE(malformed.ok());
  CHECK(malformed.status().code() == StatusCode::unreachable);
  CHECK(malformed.status().message().find("cannot resolve 'not an address'") == 0);
  CHECK(malformed.status().message().find("SIRCL_TCP_HOST") != std::string::npos);

  const auto listener = listener_of(parameters_of(1, 2));
  for (const std::string where : {"", "nonsense", ":", "127.0.0.1:", "127.0.0.1:99999999"}) {
    const auto connected = listener->connect({where, ""});
    INFO(where);
    CHECK_FALSE(connected.ok());
    CHECK_FALSE(connected.status().message().empty());
  }
}
