// From what every rank has and what it heard over its functions to the fabric, or to a clear word
// about what is wrong with it. Pure; the same input gives the same result on every rank.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/candidates.hpp"
#include "topology/layout.hpp"

namespace sircl::topology {

/// A message that came in over function `by` and was sent by function `from`.
struct Heard {
  FunctionId by;
  FunctionId from;
  /// Sent from address to address of one candidate; otherwise to everybody on the link, which needs
  /// no address and so shows what is cabled to what.
  bool addressed = false;
  auto operator<=>(const Heard&) const = default;
};

enum class FindingKind : std::uint8_t {
  swapped_ports,      ///< a cable joins functions of different networks
  same_prefix,        ///< one network on two functions of one rank
  duplicate_address,  ///< both ends have the same address
  no_answer,          ///< one network, but nothing is heard, in one direction or in both
  link_local_only,    ///< cabled, but an end has no address that could be used
  link_down,          ///< a function with a usable address whose link is down
  mtu_differs,
  missing_cable,  ///< as claimed, there should be one
  wrong_claim,    ///< what was found is another fabric
  not_a_fabric,   ///< the cables form neither a ring, nor a path, nor a pair
  missing_lane,   ///< a cable of fewer lanes than others
  decoy,          ///< left out, and why: a network that more than two ranks share
};

struct Finding {
  FindingKind kind = FindingKind::not_a_fabric;
  bool fatal = false;  ///< there is no layout because of it
  std::string text;    ///< one line: both ends as "rank 2 p1l0 (198.18.2.1/24)", and the remedy
};

struct Claim {
  std::optional<Fabric> fabric;  ///< SIRCL_FABRIC; nothing: auto
  /// SIRCL_FABRIC_FILE: only these functions may be joined, and they must be.
  std::vector<std::pair<FunctionId, FunctionId>> pinned;
};

struct Discovery {
  std::optional<Layout> layout;   ///< nothing: there is no fabric, or a fatal finding
  std::vector<Finding> findings;  ///< fatal ones first
  std::string drawing;            ///< of what was found, whether it is a fabric or not; lines
};

/// `heard` by all ranks, in any order. Without a claim and without a single proved lane there is
/// neither a layout nor a fatal finding: the ranks are joined by something else.
[[nodiscard]] Discovery conclude(std::span<const Functions> by_rank, std::span<const Heard> heard,
                                 const Claim& claim);

}  // namespace sircl::topology
