// The part of one rank in the group's agreement on its cables: reports what happens to its lanes,
// takes part in the agreement, and logs both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "comm/cable_follower.hpp"
#include "comm/fabric_state.hpp"
#include "topology/layout.hpp"

namespace sircl::detail {

class CableKeeper {
 public:
  /// Collective, and followed by another collective step of `member` before there is a network.
  /// The member outlives whoever calls report() and tend().
  static std::shared_ptr<CableKeeper> start(bootstrap::Member& member,
                                            const topology::Layout& layout);

  [[nodiscard]] const std::shared_ptr<FabricState>& state() const noexcept { return state_; }
  /// For relay::NetworkOptions::on_cable.
  void report(int cable, bool up, const std::string& reason);
  /// Before tend(); the network outlives this object.
  void attach(relay::Network& network);
  /// For EngineOptions::tend.
  Status tend();

 private:
  CableKeeper(bootstrap::Member& member, const topology::Layout& layout);
  void log_commit(const std::vector<bool>& up, std::uint64_t from);
  void watch_lanes();

  bootstrap::Member& member_;
  topology::Layout layout_;
  std::shared_ptr<FabricState> state_;
  std::vector<bool> agreed_;  ///< as of the last commit; by the member's thread
  relay::Network* network_ = nullptr;
  std::unique_ptr<CableFollower> follower_;
  std::vector<bool> lane_up_;  ///< own lanes, as last logged
};

}  // namespace sircl::detail
