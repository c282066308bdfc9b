// The fabric as text, for the start-up block and for error messages.
#pragma once

#include <string>

#include "topology/fabric.hpp"
#include "topology/placement.hpp"

namespace sircl::topology {

/// Several lines, each ended by a newline, plain ASCII. Ranks stand where they are cabled; a ring
/// is read clockwise (east) from position 0 at the top left:
///
///   [rank 0]---[rank 1]
///      |          |
///   [rank 3]---[rank 2]
///
/// The placement must be of the fabric's size.
std::string draw(const Fabric& fabric, const Placement& placement);

}  // namespace sircl::topology
