// Which virtual circuits cross which cable. Pure, so both ends of a cable agree.
#pragma once

#include <vector>

#include "topology/fabric.hpp"

namespace sircl::relay {

/// A way between two positions along which others pass messages on, both directions.
struct Circuit {
  int low = 0;           ///< the lower position
  int high = 0;          ///< the higher one
  bool eastward = true;  ///< the way that goes east from `low`; the other one goes west
  bool operator==(const Circuit&) const = default;
};

/// Cables of the way; cable c joins positions c and c + 1 (the last one of a ring and 0).
[[nodiscard]] int length(const topology::Fabric& fabric, const Circuit& circuit);
[[nodiscard]] bool crosses(const topology::Fabric& fabric, const Circuit& circuit, int cable);

/// All circuits over one cable, always in the same order. What two neighbours say to each other
/// over their own cable needs none.
[[nodiscard]] std::vector<Circuit> circuits_over(const topology::Fabric& fabric, int cable);
/// The circuits that join two positions, the shortest first.
[[nodiscard]] std::vector<Circuit> circuits_between(const topology::Fabric& fabric, int one,
                                                    int other);

/// The cable on that side of a position; -1 at the end of a path.
[[nodiscard]] int east_cable(const topology::Fabric& fabric, int position);
[[nodiscard]] int west_cable(const topology::Fabric& fabric, int position);
/// The cable by which a circuit leaves one of its positions for `to`, one of its ends.
[[nodiscard]] int cable_towards(const topology::Fabric& fabric, const Circuit& circuit,
                                int position, int to);

}  // namespace sircl::relay
