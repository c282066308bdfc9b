// What sysfs tells of one network interface.
#pragma once

#include <cstdint>
#include <string>

namespace sircl::probe {

struct InterfaceFacts {
  bool wireless = false;
  std::string master;  ///< the bridge or bond that it is a member of, empty: none
  std::int64_t speed_mbps = 0;
  std::string pci_address;
  int numa_node = -1;
  std::string rdma_device;
  int rdma_port = 0;
  std::string rdma_card;  ///< equal for all functions of one card, empty: not known
  std::string port_name;  ///< what the driver calls the socket on the card: "p0", empty: nothing
};

/// `sysfs`: "/sys" or the root of a recorded tree. What is not there stays unknown.
[[nodiscard]] InterfaceFacts read_facts(const std::string& sysfs, const std::string& interface);

}  // namespace sircl::probe
