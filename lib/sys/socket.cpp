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
  const int error = getaddrinfo(host.empty() ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return {StatusCode::unreachable, fmt::format("cannot resolve '{}': {}", host, gai_strerror(error))};
  }
  return Addresses(found);
}

bool wait_for(int fd, short events, Clock::time_point limit) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
  pollfd entry{fd, events, 0};
  return left > 0 && poll(&entry, 1, static_cast<int>(left)) > 0;
}

}  // namespace

Result<Listening> listen_on(const std::string& host, std::uint16_t first, std::uint16_t last) {
  int error = 0;
  for (int port = first; port <= std::max(first, last); ++port) {
    auto addresses = resolve(host, static_cast<std::uint16_t>(port), AI_PASSIVE);
    if (!addresses) return addresses.status();
    const addrinfo& address = **addresses;
    Fd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int one = 1;
    if (fd) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!fd || bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 || listen(fd.get(), 512) != 0) {
      error = errno;
      continue;
    }
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    const std::uint16_t chosen = ntohs(bound.ss_family == AF_INET6
                                           ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
    return Listening{std::move(fd), chosen};
  }
  return {StatusCode::resource,
          fmt::format("cannot listen on {} port {}{} ({}); free the port, or choose another in SIRCL_ROOT or SIRCL_PORT_RANGE",
                      host, first, last > first ? fmt::format(" to {}", last) : "", std::strerror(error))};
}

Result<Fd> connect_to(const std::string& host, std::uint16_t port, std::chrono::milliseconds limit) {
  auto addresses = resolve(host, port, 0);
  if (!addresses) return addresses.status();
  const auto end = Clock::now() + limit;
  int error = ETIMEDOUT;
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    Fd fd(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) {
      error = errno;
      continue;
    }
    if (connect(fd.get(), address->ai_addr, address->ai_addrlen) != 0) {
      error = errno;
      if (error != EINPROGRESS) continue;
      if (!wait_for(fd.get(), POLLOUT, end)) {
        error = ETIMEDOUT;
        continue;
      }
      socklen_t size = sizeof error;
      getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) continue;
    }
    const int one = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
  }
  return {StatusCode::unreachable, std::strerror(error)};
}

void watch_liveness(int fd) noexcept {
  const int one = 1;
  const int probes = 4;
  const int limit_ms = 5000;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &one, sizeof one);
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
      if ((ntohl(reinterpret_cast<sockaddr_in*>(address->ai_addr)->sin_addr.s_addr) >> 24) != 127) return false;
    } else if (address->ai_family == AF_INET6) {
      if (!IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<sockaddr_in6*>(address->ai_addr)->sin6_addr)) return false;
    }
  }
  return true;
}

}  // namespace sircl::sys
