// A fabric as it is: which ranks sit where, and the lanes between them. Pure data.
#pragma once

#include <string>
#include <vector>

#include "topology/fabric.hpp"
#include "topology/placement.hpp"

namespace sircl::topology {

/// One end of a lane.
struct LaneEnd {
  int rank = 0;
  std::string interface;
  std::string address;  ///< numeric, without a prefix
};

struct LayoutLane {
  int cable = 0;  ///< from the position of this number to the next one
  LaneEnd west;   ///< at the position of the cable's number: the cable leaves it eastwards
  LaneEnd east;   ///< at the next position
  int mtu = 0;    ///< bytes; the smaller one of both ends
};

/// The same on every rank.
struct Layout {
  Fabric fabric;
  Placement placement = Placement::identity(1);
  std::vector<LayoutLane> lanes;  ///< by cable
};

}  // namespace sircl::topology
