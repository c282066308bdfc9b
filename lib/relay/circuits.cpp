#include "relay/circuits.hpp"

#include <algorithm>

namespace sircl::relay {

using topology::Fabric;
using topology::FabricKind;

int length(const Fabric& fabric, const Circuit& circuit) {
  const int straight = circuit.high - circuit.low;
  return circuit.eastward ? straight : fabric.size - straight;
}

bool crosses([[maybe_unused]] const Fabric& fabric, const Circuit& circuit, int cable) {
  const bool between = circuit.low <= cable && cable < circuit.high;
  return between == circuit.eastward;
}

std::vector<Circuit> circuits_between(const Fabric& fabric, int one, int other) {
  const auto [low, high] = std::minmax(one, other);
  std::vector<Circuit> found;
  for (const bool eastward : {true, false}) {
    const Circuit circuit{low, high, eastward};
    if (!eastward && fabric.kind != FabricKind::ring) continue;
    if (length(fabric, circuit) > 1) found.push_back(circuit);
  }
  std::stable_sort(found.begin(), found.end(), [&](const Circuit& a, const Circuit& b) {
    return length(fabric, a) < length(fabric, b);
  });
  return found;
}

std::vector<Circuit> circuits_over(const Fabric& fabric, int cable) {
  std::vector<Circuit> found;
  for (int low = 0; low < fabric.size; ++low) {
    for (int high = low + 1; high < fabric.size; ++high) {
      for (const Circuit& circuit : circuits_between(fabric, low, high)) {
        if (crosses(fabric, circuit, cable)) found.push_back(circuit);
      }
    }
  }
  return found;
}

int east_cable(const Fabric& fabric, int position) {
  return topology::east(fabric, position) ? position : -1;
}

int west_cable(const Fabric& fabric, int position) {
  return topology::west(fabric, position).value_or(-1);
}

int cable_towards(const Fabric& fabric, const Circuit& circuit, int position, int to) {
  return (to == circuit.high) == circuit.eastward ? east_cable(fabric, position)
                                                  : west_cable(fabric, position);
}

}  // namespace sircl::relay
