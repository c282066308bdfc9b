// All lanes of one rank on a switchless fabric: those of its own cables, and circuits to everybody
// else through the nodes between. What passes through for others is passed on here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "relay/circuits.hpp"
#include "topology/placement.hpp"
#include "transport/cabling.hpp"
#include "transport/lane.hpp"

namespace sircl::relay {

struct NetworkOptions {
  topology::Fabric fabric;  ///< ring, path or pair
  topology::Placement placement = topology::Placement::identity(1);
  int rank = 0;
  transport::WindowShape shape;      ///< of the channels between neighbours
  transport::WindowShape far_shape;  ///< and between all others; messages of the same size
  std::uint32_t hop_slots = 4;       ///< messages of one circuit that a node holds, per direction
};

/// The windows that a rank's peers put into, by rank (null for its own). The same shape on both
/// ends follows from the options alone.
[[nodiscard]] std::vector<std::shared_ptr<transport::Window>> make_windows(
    const NetworkOptions& options);

class Network : public transport::Transport {
 public:
  /// The lanes of `cabling` use the windows.
  static std::unique_ptr<Network> make(const NetworkOptions& options,
                                       std::vector<std::shared_ptr<transport::Window>> windows,
                                       std::unique_ptr<transport::Cabling> cabling);

  [[nodiscard]] virtual transport::Cabling& cabling() noexcept = 0;
  /// Called by serve() when a cable of this rank has lost its last lane, with the reason, and when
  /// it has worked again for a while.
  using OnCable = std::function<void(int cable, bool up, const std::string& reason)>;
  virtual void set_on_cable(OnCable call) = 0;
  /// Cables that the group knows to be down, by number: circuits over them are not used.
  virtual void set_cables(const std::vector<bool>& up) = 0;
  /// Whether this rank has no lane left on that cable.
  [[nodiscard]] virtual bool cable_lost(int cable) const noexcept = 0;
  /// Bytes passed on for others, headers included; from any thread.
  [[nodiscard]] virtual std::uint64_t bytes_forwarded() const noexcept = 0;
};

}  // namespace sircl::relay
