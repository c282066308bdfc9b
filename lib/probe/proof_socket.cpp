#include "probe/proof_socket.hpp"

#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sircl::probe {
namespace {

/// Link-local and given out by nobody (RFC 4291, the T flag).
constexpr std::array<std::uint8_t, 16> kGroup{0xff, 0x12, 0, 0, 0,   0,   0,   0,
                                              0,    0,    0, 0, 's', 'r', 'c', 'l'};

bool set(int fd, int level, int name, int value) noexcept {
  return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

std::optional<topology::Address> address_of(const sockaddr_storage& storage) noexcept {
  topology::Address address;
  if (storage.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(storage);
    std::memcpy(address.bytes.data(), &four.sin_addr, sizeof four.sin_addr);
    return address;
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(storage);
  address.family = topology::AddressFamily::v6;
  std::memcpy(address.bytes.data(), &six.sin6_addr, sizeof six.sin6_addr);
  return address;
}

/// The interface that a message came in by; 0: the kernel does not say.
int arrival_interface(msghdr& header) noexcept {
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(at), sizeof info);
      return info.ipi_ifindex;
    }
    if (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(at), sizeof info);
      return static_cast<int>(info.ipi6_ifindex);
    }
  }
  return 0;
}

}  // namespace

Endpoint endpoint(const topology::Address& address, std::uint16_t port) {
  Endpoint result;
  if (address.family == topology::AddressFamily::v4) {
    auto& four = reinterpret_cast<sockaddr_in&>(result.storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    std::memcpy(&four.sin_addr, address.bytes.data(), sizeof four.sin_addr);
    result.size = sizeof four;
  } else {
    auto& six = reinterpret_cast<sockaddr_in6&>(result.storage);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    std::memcpy(&six.sin6_addr, address.bytes.data(), sizeof six.sin6_addr);
    result.size = sizeof six;
  }
  return result;
}

// One hop only: what a router forwards shows no cable.
std::optional<ProofSocket> ProofSocket::open(const std::string& interface, int family) {
  ProofSocket result;
  result.interface_index_ = static_cast<int>(if_nametoindex(interface.c_str()));
  result.fd_ = sys::Fd(socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = result.fd();
  if (result.interface_index_ == 0 || fd < 0) return std::nullopt;
  const bool set_up = family == AF_INET
                          ? set(fd, IPPROTO_IP, IP_PKTINFO, 1) && set(fd, IPPROTO_IP, IP_TTL, 1)
                          : set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
                                set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
                                set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 1);
  if (!set_up) return std::nullopt;
  // Kernels before 5.7 allow this to root only. The address then has to do, and receive() looks at
  // the interface anyway.
  (void)!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                    static_cast<socklen_t>(interface.size() + 1));
  return result;
}

bool ProofSocket::bind_to(const Endpoint& local) noexcept {
  if (bind(fd(), reinterpret_cast<const sockaddr*>(&local.storage), local.size) != 0) return false;
  Endpoint bound;
  bound.size = sizeof bound.storage;
  if (getsockname(fd(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0) {
    return false;
  }
  port_ = ntohs(bound.storage.ss_family == AF_INET
                    ? reinterpret_cast<const sockaddr_in&>(bound.storage).sin_port
                    : reinterpret_cast<const sockaddr_in6&>(bound.storage).sin6_port);
  return true;
}

std::optional<ProofSocket> ProofSocket::on_address(const std::string& interface,
                                                   const topology::Address& address) {
  auto result = open(interface, address.family == topology::AddressFamily::v4 ? AF_INET : AF_INET6);
  if (!result || !result->bind_to(endpoint(address, 0))) return std::nullopt;
  return result;
}

std::optional<ProofSocket> ProofSocket::on_link(const std::string& interface, std::uint16_t port) {
  auto result = open(interface, AF_INET6);
  if (!result) return std::nullopt;
  const int fd = result->fd();
  const int index = result->interface_index_;
  ipv6_mreq member{};
  member.ipv6mr_interface = static_cast<unsigned>(index);
  std::memcpy(&member.ipv6mr_multiaddr, kGroup.data(), kGroup.size());
  result->group_ = endpoint({topology::AddressFamily::v6, kGroup, 128}, port);
  reinterpret_cast<sockaddr_in6&>(result->group_.storage).sin6_scope_id =
      static_cast<std::uint32_t>(index);
  // Ranks of one host share the port; each gets every message.
  if (!set(fd, SOL_SOCKET, SO_REUSEADDR, 1) || !set(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 0) ||
      !set(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1) ||
      !set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, index) ||
      setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &member, sizeof member) != 0 ||
      !result->bind_to(result->group_)) {
    return std::nullopt;
  }
  return result;
}

void ProofSocket::send(std::span<const std::byte> bytes, const Endpoint& to) const noexcept {
  (void)!sendto(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&to.storage), to.size);
}

std::optional<ProofSocket::Arrival> ProofSocket::receive(std::span<std::byte> room) const noexcept {
  // Bounded, so that a flood from elsewhere does not keep the caller here.
  for (int tries = 0; tries < 64; ++tries) {
    sockaddr_storage from{};
    alignas(cmsghdr) std::array<std::byte, 128> control{};
    iovec part{room.data(), room.size()};
    msghdr header{};
    header.msg_name = &from;
    header.msg_namelen = sizeof from;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = recvmsg(fd(), &header, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;  // an interface that went away is silent
    const auto sender = address_of(from);
    if (!sender || arrival_interface(header) != interface_index_) continue;
    return Arrival{room.first(static_cast<std::size_t>(got)), *sender};
  }
  return std::nullopt;
}

}  // namespace sircl::probe
