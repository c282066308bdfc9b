// From settings to a running engine: join the group, agree, connect the transport.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/launch.hpp"
#include "comm/engine.hpp"
#include "comm/hosts.hpp"
#include "config/settings.hpp"
#include "topology/fabric.hpp"

namespace sircl::detail {

/// Everything a communicator owns. Destroyed from the last member up: engine first, hub last.
struct Setup {
  config::Settings settings;
  bootstrap::Launch launch;
  std::optional<topology::Fabric> fabric;  ///< what SIRCL_FABRIC says
  Hosts hosts;
  std::string data_host;                      ///< on tcp: where others reach this rank
  std::string memory;                         ///< bytes of the transport, and how they come about
  std::unique_ptr<bootstrap::Root> root;      ///< on the rank whose process hosts the hub
  std::unique_ptr<bootstrap::Member> member;  ///< null for a single rank
  std::shared_ptr<Engine> engine;
};

/// Joins, with a hub that is started here if `launch` says so (rank 0) and none was given.
Result<std::unique_ptr<Setup>> set_up(config::Settings settings, bootstrap::Launch launch,
                                      std::unique_ptr<bootstrap::Root> root);

}  // namespace sircl::detail
