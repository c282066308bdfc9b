// From a layout to the network that runs over its cables.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "bootstrap/bootstrap.hpp"
#include "config/settings.hpp"
#include "relay/network.hpp"
#include "schedule/cost.hpp"
#include "topology/layout.hpp"

namespace sircl::detail {

struct CablesOptions {
  int rank = 0;
  transport::WindowShape shape;  ///< see relay::NetworkOptions
  transport::WindowShape far_shape;
  std::array<std::byte, 16> token{};
  std::chrono::milliseconds timeout{60'000};
  std::function<bool()> cancelled;
  bool measure = true;  ///< else costs and speeds are left as they are
};

struct Cables {
  std::unique_ptr<relay::Network> network;
  schedule::Parameters costs;  ///< as measured; the same on every rank
};

/// Connects and measures every lane of the layout. Collective: every rank calls it with the same
/// layout, and an error is everybody's.
Result<Cables> connect_cables(bootstrap::Member& member, const CablesOptions& options,
                              const topology::Layout& layout);

}  // namespace sircl::detail
