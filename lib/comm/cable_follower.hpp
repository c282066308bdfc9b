// Keeps one network in step with the cables: what the kernel says of links goes to the lanes, what
// the group says of cables goes to the relays, and a group that falls apart ends with a clear word.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "comm/fabric_state.hpp"
#include "relay/network.hpp"
#include "sircl/status.hpp"
#include "sys/netlink.hpp"

namespace sircl::detail {

class CableFollower {
 public:
  /// The network outlives this object.
  CableFollower(std::shared_ptr<FabricState> state, relay::Network& network);

  /// By whoever drives the network, every few milliseconds. An error: some ranks have not been
  /// reachable by any way for a while.
  Status tend();

 private:
  std::shared_ptr<FabricState> state_;
  relay::Network& network_;
  std::unique_ptr<sys::LinkEvents> links_;  ///< null where the kernel does not tell
  std::uint64_t seen_ = 0;
  std::string partition_;
  std::chrono::steady_clock::time_point apart_since_;
};

}  // namespace sircl::detail
