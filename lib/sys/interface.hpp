// The network interfaces of this host.
#pragma once

#include <string>
#include <string_view>

#include "sircl/status.hpp"

namespace sircl::sys {

/// Whether an interface is meant by a list as NCCL_SOCKET_IFNAME has it: "eth,ib" (names that start
/// so), "=eth0" (exactly these), "^docker,lo" (all but those that start so), "^=eth0".
[[nodiscard]] bool interface_matches(std::string_view list, std::string_view name);

/// The first address (IPv4 before IPv6) of an interface that is up and meant by `list`. An error
/// names the interfaces that there are.
Result<std::string> interface_address(const std::string& list);

}  // namespace sircl::sys
