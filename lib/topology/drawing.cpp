#include "topology/drawing.hpp"

#include <fmt/format.h>

#include <vector>

namespace sircl::topology {
namespace {

constexpr std::string_view kCable = "---";

/// "[rank 7]", all equally wide.
std::string box(const Fabric& fabric, const Placement& placement, int position) {
  const auto width = fmt::formatted_size("{}", fabric.size - 1);
  return fmt::format("[rank {:>{}}]", placement.rank(position), width);
}

std::string row(const Fabric& fabric, const Placement& placement, int first, int last, int step) {
  std::string text;
  for (int position = first; position != last + step; position += step) {
    if (!text.empty()) text += kCable;
    text += box(fabric, placement, position);
  }
  return text;
}

/// The first half of the positions on top, the others below on the way back. With an odd number the
/// row below is one box shorter and its cable turns the corner.
std::string draw_ring(const Fabric& fabric, const Placement& placement) {
  const int on_top = (fabric.size + 1) / 2;
  std::string top = row(fabric, placement, 0, on_top - 1, 1);
  std::string below = row(fabric, placement, fabric.size - 1, on_top, -1);
  const std::size_t middle = box(fabric, placement, 0).size() / 2 - 1;
  const std::size_t corner = top.size() - box(fabric, placement, 0).size() + middle;
  std::string sides(corner + 1, ' ');
  sides[middle] = sides[corner] = '|';
  if (fabric.size % 2 == 1) {
    below.resize(corner, '-');
    below += '+';
  }
  return top + "\n" + sides + "\n" + below + "\n";
}

}  // namespace

std::string draw(const Fabric& fabric, const Placement& placement) {
  if (placement.size() != fabric.size || fabric.size < 1) {
    return to_string(fabric) + "\n";
  }
  switch (fabric.kind) {
    case FabricKind::ring:
      return fabric.size < 3 ? row(fabric, placement, 0, fabric.size - 1, 1) + "\n"
                             : draw_ring(fabric, placement);
    case FabricKind::path:
    case FabricKind::pair:
      return row(fabric, placement, 0, fabric.size - 1, 1) + "\n";
    case FabricKind::mesh: {
      std::string text;
      for (int position = 0; position < fabric.size; ++position) {
        text += box(fabric, placement, position) + " ";
      }
      return text + (fabric.size > 1 ? "every two joined\n" : "alone\n");
    }
  }
  return "\n";
}

}  // namespace sircl::topology
