// What the user cabled, and who is next to whom on it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sircl/status.hpp"

namespace sircl::topology {

enum class FabricKind : std::uint8_t {
  ring,  ///< each position has a cable to the next, the last one to the first; three or more
  path,  ///< the same without the last cable; three or more
  pair,  ///< two positions, one cable
  mesh,  ///< every two positions are joined (ranks of one host, or a switch)
};

inline constexpr int kMaxPositions = 1024;

/// Positions are numbered 0..size-1; east is position + 1, west is position - 1.
struct Fabric {
  FabricKind kind = FabricKind::mesh;
  int size = 0;
  bool operator==(const Fabric&) const = default;
};

std::string_view to_string(FabricKind kind) noexcept;
/// "ring:4", "path:3", "pair", "mesh:8": what parse_fabric reads.
std::string to_string(const Fabric& fabric);

/// Reads "ring:N", "path:N", "pair" or "mesh:N"; nothing inside the result for "auto". A ring or
/// path of two is a pair. Any other text is an invalid_setting that says what is possible.
Result<std::optional<Fabric>> parse_fabric(std::string_view text);

/// The position across the cable on that side; nothing at the end of a path. On a mesh and a pair
/// the neighbours are those of a ring, so that a pair has the same neighbour on both sides.
std::optional<int> east(const Fabric& fabric, int position);
std::optional<int> west(const Fabric& fabric, int position);

/// Cables between two positions when going only east (only west); nothing if that way does not
/// exist. 0 from a position to itself.
std::optional<int> hops_east(const Fabric& fabric, int from, int to);
std::optional<int> hops_west(const Fabric& fabric, int from, int to);
/// Cables on the shortest way; 1 between any two of a mesh.
int hops(const Fabric& fabric, int from, int to);
/// Whether a message between them needs no relay.
bool adjacent(const Fabric& fabric, int from, int to);
/// Number of cables; a mesh of N has N (N-1) / 2.
int cables(const Fabric& fabric);

}  // namespace sircl::topology
