// From settings to a running engine: join the group, agree, connect the transport.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/launch.hpp"
#include "comm/engine.hpp"
#include "comm/hosts.hpp"
#include "config/settings.hpp"
#include "relay/network.hpp"
#include "topology/layout.hpp"

namespace sircl::detail {

/// A group on cables.
struct FabricOfGroup {
  topology::Layout layout;
  std::string token;  ///< of the group: strangers do not know it
  schedule::Parameters costs;
  std::shared_ptr<FabricState> state;  ///< which cables work
  relay::Network* network = nullptr;   ///< the engine's
  bool whole = true;                   ///< the group has all ranks of the fabric
};

/// Cables for a part of a group, see fabric_setup.hpp.
struct FabricPart {
  std::unique_ptr<relay::Network> network;
  std::vector<int> ranks;  ///< of the whole group, by rank of the part
  FabricOfGroup fabric;    ///< of the whole group
};

/// Everything a communicator owns. Destroyed from the last member up: engine first, hub last.
struct Setup {
  config::Settings settings;
  bootstrap::Launch launch;
  std::optional<topology::Fabric> fabric;  ///< what SIRCL_FABRIC says
  Hosts hosts;
  std::string data_host;                      ///< on tcp: where others reach this rank
  std::unique_ptr<FabricOfGroup> cables;      ///< null: not on cables
  std::string memory;                         ///< bytes of the transport, and how they come about
  std::unique_ptr<bootstrap::Root> root;      ///< on the rank whose process hosts the hub
  std::unique_ptr<bootstrap::Member> member;  ///< null for a single rank
  std::shared_ptr<Engine> engine;
};

/// Joins, with a hub that is started here if `launch` says so (rank 0) and none was given. `part`:
/// the cables of this group, if it is part of one that has some.
Result<std::unique_ptr<Setup>> set_up(config::Settings settings, bootstrap::Launch launch,
                                      std::unique_ptr<bootstrap::Root> root,
                                      std::optional<FabricPart> part = std::nullopt);

}  // namespace sircl::detail
