// Which ranks are cabled to which: what every host has, proved over the cables themselves.
#pragma once

#include <optional>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/launch.hpp"
#include "comm/hosts.hpp"
#include "config/settings.hpp"
#include "topology/layout.hpp"

namespace sircl::detail {

/// The layout of the cables that join the hosts of all ranks; nothing where there are none that
/// could carry everything. Collective.
Result<std::optional<topology::Layout>> discover(bootstrap::Member& member,
                                                 const config::Settings& settings,
                                                 const Hosts& hosts,
                                                 const bootstrap::Launch& launch,
                                                 const std::optional<topology::Fabric>& claimed);

}  // namespace sircl::detail
