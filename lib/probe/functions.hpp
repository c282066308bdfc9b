// The network functions of this host that may carry lanes: what netlink and sysfs say of them.
#pragma once

#include <memory>
#include <string>

#include "sircl/status.hpp"
#include "sys/netlink.hpp"
#include "topology/candidates.hpp"

namespace sircl::probe {

struct Wanted {
  std::string devices;  ///< SIRCL_DEVICES: interfaces or RDMA devices; empty: whatever may be one
  std::string management;  ///< interface of the management network, never a lane unless named
};

/// What was left out, and why ("docker0: a bridge"): for the log.
struct LeftOut {
  std::string interface;
  std::string why;
};

struct Found {
  topology::Functions functions;
  std::vector<LeftOut> left_out;
};

/// `links`: from the kernel or recorded; `sysfs`: "/sys" or the root of a recorded tree.
Result<Found> functions(sys::LinkTable& links, const std::string& sysfs, const Wanted& wanted);

}  // namespace sircl::probe
