// A communicator on cables: of all ranks of a fabric, or of a part of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/cable_keeper.hpp"
#include "comm/notice_box.hpp"
#include "comm/setup.hpp"
#include "relay/network.hpp"

namespace sircl::detail {

/// Connects all lanes of the layout for this group; fills what the engine must know of them.
/// Collective.
Result<std::unique_ptr<transport::Transport>> connect_fabric(Setup& setup, EngineOptions& options,
                                                             const std::string& token,
                                                             NoticeBox& box,
                                                             const topology::Layout& layout);

/// The lanes and relays for one further group per rank, whichever those are: all ranks of `whole`
/// connect them, because each may have to pass on what others say. Collective over `whole`.
Result<FabricPart> connect_part(Setup& whole, std::vector<int> ranks);

/// The part as a transport of the group that `setup` is for. Collective over that group.
std::unique_ptr<transport::Transport> use_part(Setup& setup, EngineOptions& options,
                                               FabricPart part);

/// Passes on what is for others, for a rank whose own part has nobody else.
std::shared_ptr<Engine> serve_alone(const Setup& whole, FabricPart part);

}  // namespace sircl::detail
