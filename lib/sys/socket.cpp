#include "sys/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace sircl::sys {
namespace {

using Clock = std::chrono::steady_clock;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(),
                                &hints, &found);
  if (error != 0) {
    return {StatusCode::unreachable,
            fmt::format("cannot resolve '{}': {}", host, gai_strerror(error))};
  }
  return Addresses(found);
}

bool wait_for(int fd, short events, Clock::time_point limit) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
  pollfd entry{fd, events, 0};
  return left > 0 && poll(&entry, 1, static_cast<int>(left)) > 0;
}

std::string numeric(const addrinfo& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(address.ai_addr, address.ai_addrlen, host.data(), host.size(), port.data(),
                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return with_port(host.data(), static_cast<std::uint16_t>(std::stoul(port.data())));
}

bool is_connected_to_itself(int fd) {
  sockaddr_storage mine{};
  sockaddr_storage theirs{};
  socklen_t size = sizeof mine;
  socklen_t peer_size = sizeof theirs;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &size) == 0 &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &peer_size) == 0 &&
         size == peer_size && std::memcmp(&mine, &theirs, size) == 0;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

Result<Listening> listen_on(const std::string& host, std::uint16_t first, std::uint16_t last) {
  int error = 0;
  for (int port = first; port <= std::max(first, last); ++port) {
    auto addresses = resolve(host, static_cast<std::uint16_t>(port), AI_PASSIVE);
    if (!addresses) return addresses.status();
    for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
      Fd fd(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      const int one = 1;
      if (fd) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
      if (!fd || bind(fd.get(), at->ai_addr, at->ai_addrlen) != 0 || listen(fd.get(), 512) != 0) {
        // A port that is taken explains more than an address family that does not exist.
        if (error != EADDRINUSE) error = errno;
        continue;
      }
      const std::uint16_t chosen = bound_port(fd.get());
      return Listening{std::move(fd), chosen};
    }
  }
  const std::string where = last > first && first > 0
                                ? fmt::format("{} ports {} to {}", host, first, last)
                                : with_port(host, first);
  if (error == EADDRNOTAVAIL) {
    return {StatusCode::resource,
            fmt::format("cannot listen on {} ({}): it is no address of this host; start rank 0 on "
                        "the host that SIRCL_ROOT or MASTER_ADDR names",
                        where, std::strerror(error))};
  }
  return {StatusCode::resource,
          fmt::format("cannot listen on {} ({}); free the port, or choose another in SIRCL_ROOT or "
                      "SIRCL_PORT_RANGE",
                      where, std::strerror(error))};
}

Result<Fd> connect_to(const std::string& host, std::uint16_t port,
                      std::chrono::milliseconds limit) {
  auto addresses = resolve(host, port, 0);
  if (!addresses) return addresses.status();
  const auto end = Clock::now() + limit;
  std::string failure;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    Fd fd(socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int error = fd ? 0 : errno;
    if (fd && connect(fd.get(), at->ai_addr, at->ai_addrlen) != 0) {
      error = errno;
      if (error == EINPROGRESS) {
        error = ETIMEDOUT;
        if (wait_for(fd.get(), POLLOUT, end)) {
          socklen_t size = sizeof error;
          getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        }
      }
    }
    // While nobody listens on a port of the ephemeral range, the kernel may choose that very port
    // for this end, and the socket then talks to itself.
    if (error == 0 && is_connected_to_itself(fd.get())) error = ECONNREFUSED;
    if (error == 0) {
      const int one = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      return fd;
    }
    failure = fmt::format("{}: {}", numeric(*at), std::strerror(error));
  }
  return {StatusCode::unreachable, failure};
}

void watch_liveness(int fd, std::chrono::milliseconds limit) noexcept {
  const int one = 1;
  const int probes = 4;
  const int limit_ms = static_cast<int>(std::clamp<long>(limit.count(), 1000, 3'600'000));
  const int step_s = std::max(1, limit_ms / 1000 / (probes + 1));
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &step_s, sizeof step_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &step_s, sizeof step_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

bool send_all(int fd, std::span<const std::byte> bytes, std::chrono::milliseconds limit) noexcept {
  const auto end = Clock::now() + limit;
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLOUT, end)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool receive_all(int fd, std::span<std::byte> bytes, std::chrono::milliseconds limit) noexcept {
  const auto end = Clock::now() + limit;
  while (!bytes.empty()) {
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0) {
      return false;
    } else if (errno == EAGAIN) {
      if (!wait_for(fd, POLLIN, end)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool is_loopback(const std::string& host) {
  auto addresses = resolve(host, 0, 0);
  if (!addresses) return false;
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    if (address->ai_family == AF_INET) {
      if ((ntohl(reinterpret_cast<sockaddr_in*>(address->ai_addr)->sin_addr.s_addr) >> 24) != 127)
        return false;
    } else if (address->ai_family == AF_INET6) {
      if (!IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6*>(address->ai_addr)->sin6_addr))
        return false;
    }
  }
  return true;
}

bool is_wildcard(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return four.s_addr == 0;
  return inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

bool is_numeric(const std::string& host) { return resolve(host, 0, AI_NUMERICHOST).ok(); }

std::string with_port(const std::string& host, std::uint16_t port) {
  const bool six = host.find(':') != std::string::npos;
  return six ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace sircl::sys
