// A network function of a rank's host, as every rank publishes it. Pure data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sircl::topology {

enum class AddressFamily : std::uint8_t { v4, v6 };

/// An interface address with its prefix, in network byte order (IPv4: the first four bytes).
struct Address {
  AddressFamily family = AddressFamily::v4;
  std::array<std::uint8_t, 16> bytes{};
  int prefix_length = 0;
  bool operator==(const Address&) const = default;
};

/// What carries one lane: an Ethernet interface and, where there is one, the RDMA port behind it.
struct Function {
  std::string interface;           ///< "enp1s0f0np0"
  std::vector<Address> addresses;  ///< link-local ones included
  int mtu = 0;                     ///< bytes
  std::int64_t speed_mbps = 0;     ///< as advertised; 0: not known
  bool up = false;                 ///< administratively up, with a carrier
  std::string hardware_address;    ///< "aa:bb:cc:dd:ee:ff", empty: none
  std::string rdma_device;         ///< "rocep1s0f0", empty: none
  int rdma_port = 0;               ///< from 1
  std::string pci_address;         ///< "0000:01:00.0", empty: not on PCI
  int port = -1;                   ///< the cable's socket that the function belongs to; -1: unknown
  int numa_node = -1;              ///< -1: unknown
  bool operator==(const Function&) const = default;
};

/// One function of one rank, by its place in the list that the rank published.
struct FunctionId {
  int rank = 0;
  int index = 0;
  auto operator<=>(const FunctionId&) const = default;
};

}  // namespace sircl::topology
