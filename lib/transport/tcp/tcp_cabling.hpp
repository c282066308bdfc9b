// TCP lanes between neighbours on cables, each bound to the interface that its cable ends in.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "transport/cabling.hpp"

namespace sircl::transport::tcp {

struct CablingOptions {
  int rank = 0;
  std::array<std::byte, 16> token{};  ///< secret of the group: strangers do not know it
  std::chrono::milliseconds timeout{60'000};
  std::function<bool()> cancelled;  ///< polled while connecting
};

/// Listens for the lanes that the other end calls. Both steps of the speed measurement
/// (lane_speed.hpp) use the descriptors of the lanes once they are connected.
Result<std::unique_ptr<Cabling>> listen_on_cables(const CablingOptions& options,
                                                  std::vector<LaneSpec> lanes);

}  // namespace sircl::transport::tcp
