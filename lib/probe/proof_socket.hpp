// A UDP socket of one network function: what it sends leaves by that function's interface, and only
// what came in there is received.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sys/fd.hpp"
#include "topology/function.hpp"

namespace sircl::probe {

/// An address and a port, for the kernel.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

[[nodiscard]] Endpoint endpoint(const topology::Address& address, std::uint16_t port);

class ProofSocket {
 public:
  struct Arrival {
    std::span<const std::byte> bytes;
    topology::Address from;  ///< the prefix length is not known
  };

  /// On one of the interface's own addresses, any port. Nothing where that is not possible.
  static std::optional<ProofSocket> on_address(const std::string& interface,
                                               const topology::Address& address);
  /// For whoever is on the same link, whatever the addresses.
  static std::optional<ProofSocket> on_link(const std::string& interface, std::uint16_t port);

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// A message that cannot be sent now is lost like any other.
  void send(std::span<const std::byte> bytes, const Endpoint& to) const noexcept;
  /// To everybody on the link; only for a socket of on_link().
  void send_to_all(std::span<const std::byte> bytes) const noexcept { send(bytes, group_); }
  /// The next message that came in over the interface itself, cut to `room`; nothing: none waits.
  [[nodiscard]] std::optional<Arrival> receive(std::span<std::byte> room) const noexcept;

 private:
  static std::optional<ProofSocket> open(const std::string& interface, int family);
  bool bind_to(const Endpoint& local) noexcept;

  sys::Fd fd_;
  int interface_index_ = 0;
  std::uint16_t port_ = 0;
  Endpoint group_;
};

}  // namespace sircl::probe
