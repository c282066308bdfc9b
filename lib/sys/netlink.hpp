// Network interfaces as the kernel's netlink reports them, and news of their links.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::sys {

struct InterfaceAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4: the first four
  int prefix_length = 0;
};

struct Link {
  int index = 0;
  std::string name;
  std::string kind;  ///< of a virtual interface: "veth", "bridge", "tun", ...; empty: hardware
  bool ethernet = false;
  bool loopback = false;
  bool up = false;  ///< administratively up, with a carrier
  int mtu = 0;
  std::string hardware_address;
  std::vector<InterfaceAddress> addresses;
};

/// Where a list of interfaces comes from: the kernel, or a recorded host in a test.
class LinkTable {
 public:
  virtual ~LinkTable() = default;
  virtual Result<std::vector<Link>> read() = 0;
};

/// The kernel's, of this network namespace.
std::unique_ptr<LinkTable> kernel_links();

/// News of links that go down or come back.
class LinkEvents {
 public:
  struct Event {
    std::string interface;
    bool up = false;
  };
  static Result<std::unique_ptr<LinkEvents>> open();
  virtual ~LinkEvents() = default;
  /// Readable when there is news.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Does not wait. After an overrun of the kernel's queue: the state of every interface.
  virtual std::vector<Event> drain() = 0;
};

}  // namespace sircl::sys
