// The address plan of a fabric that is to be: which function gets which address. Pure.
#pragma once

#include <vector>

#include "topology/fabric.hpp"
#include "topology/function.hpp"

namespace sircl::topology {

struct PlannedEnd {
  int position = 0;
  int port = 0;  ///< 0: eastwards, 1: westwards
  Address address;
};

struct PlannedLane {
  int cable = 0;
  int lane = 0;  ///< of the cable
  PlannedEnd west;
  PlannedEnd east;
};

/// One /24 per lane, from 198.18.0.0 on: 198.18.(cable * lanes + lane).0, .1 at the west end and .2
/// at the east end. An invalid_argument where 198.18.0.0/15 has not that many (more than 512), or
/// for a mesh.
Result<std::vector<PlannedLane>> plan(const Fabric& fabric, int lanes);

}  // namespace sircl::topology
