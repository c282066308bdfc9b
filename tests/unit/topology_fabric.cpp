#include "topology/fabric.hpp"

#include "support/catch.hpp"
#include "topology/drawing.hpp"
#include "topology/placement.hpp"

namespace sircl::topology {
namespace {

Fabric fabric(std::string_view text) {
  const auto parsed = parse_fabric(text);
  REQUIRE(parsed.ok());
  REQUIRE(parsed->has_value());
  return **parsed;
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_fabric(text);
  CHECK(parsed.status().code() == StatusCode::invalid_setting);
  return parsed.status().message();
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

Placement placed(std::vector<int> positions) {
  auto placement = Placement::from_positions(positions);
  REQUIRE(placement.ok());
  return *placement;
}

}  // namespace

TEST_CASE("fabrics are read and written") {
  CHECK(fabric("ring:4") == Fabric{FabricKind::ring, 4});
  CHECK(fabric("path:3") == Fabric{FabricKind::path, 3});
  CHECK(fabric("pair") == Fabric{FabricKind::pair, 2});
  CHECK(fabric("pair:2") == Fabric{FabricKind::pair, 2});
  CHECK(fabric("mesh:1") == Fabric{FabricKind::mesh, 1});
  CHECK(fabric("ring:2") == Fabric{FabricKind::pair, 2});
  CHECK(fabric("path:2") == Fabric{FabricKind::pair, 2});
  CHECK(fabric("ring:1024").size == kMaxPositions);
  for (const char* text : {"ring:4", "path:7", "pair", "mesh:2"}) {
    CHECK(to_string(fabric(text)) == text);
  }
  const auto automatic = parse_fabric("auto");
  REQUIRE(automatic.ok());
  CHECK_FALSE(automatic->has_value());
}

TEST_CASE("other texts are refused with a reason and the possibilities") {
  CHECK(has(refusal("torus:4"), "there is no fabric \"torus\""));
  CHECK(has(refusal("torus:4"), "possible are ring:N, path:N, pair, mesh:N and auto"));
  CHECK(has(refusal(""), "there is no fabric \"\""));
  CHECK(has(refusal("Ring:4"), "there is no fabric \"Ring\""));
  CHECK(has(refusal("ring"), "the number of positions is missing, as in ring:4"));
  CHECK(has(refusal("ring:"), "\"\" is not a number"));
  CHECK(has(refusal("ring:4x"), "\"4x\" is not a number"));
  CHECK(has(refusal("ring: 4"), "\" 4\" is not a number"));
  CHECK(has(refusal("ring:1"), "a ring has 2 or more positions"));
  CHECK(has(refusal("path:-3"), "a path has 2 or more positions"));
  CHECK(has(refusal("mesh:0"), "a mesh has 1 or more positions"));
  CHECK(has(refusal("ring:1025"), "at most 1024 positions"));
  CHECK(has(refusal("ring:99999999999"), "at most 1024 positions"));
  CHECK(has(refusal("pair:3"), "a pair has two positions"));
  CHECK(has(refusal("auto:4"), "there is no fabric \"auto\""));
}

TEST_CASE("neighbours") {
  CHECK(east(fabric("ring:4"), 3) == 0);
  CHECK(west(fabric("ring:4"), 0) == 3);
  CHECK(east(fabric("path:4"), 1) == 2);
  CHECK_FALSE(east(fabric("path:4"), 3).has_value());
  CHECK_FALSE(west(fabric("path:4"), 0).has_value());
  CHECK(east(fabric("pair"), 0) == 1);
  CHECK(west(fabric("pair"), 0) == 1);
  CHECK(east(fabric("pair"), 1) == 0);
  CHECK_FALSE(east(fabric("mesh:1"), 0).has_value());
  CHECK_FALSE(east(fabric("ring:4"), 4).has_value());
  CHECK_FALSE(west(fabric("ring:4"), -1).has_value());
}

TEST_CASE("hops both ways") {
  const Fabric ring = fabric("ring:5");
  CHECK(hops_east(ring, 1, 4) == 3);
  CHECK(hops_west(ring, 1, 4) == 2);
  CHECK(hops_east(ring, 4, 1) == 2);
  CHECK(hops_east(ring, 2, 2) == 0);
  CHECK(hops(ring, 1, 4) == 2);
  const Fabric path = fabric("path:5");
  CHECK(hops_east(path, 1, 4) == 3);
  CHECK_FALSE(hops_west(path, 1, 4).has_value());
  CHECK(hops_west(path, 4, 1) == 3);
  CHECK(hops(path, 4, 0) == 4);
  CHECK(hops(fabric("mesh:5"), 0, 3) == 1);
  CHECK(hops(fabric("mesh:5"), 3, 3) == 0);
  CHECK_FALSE(hops_east(ring, 0, 5).has_value());
  for (int from = 0; from < 5; ++from) {
    for (int to = 0; to < 5; ++to) {
      if (from != to) CHECK(*hops_east(ring, from, to) + *hops_west(ring, from, to) == 5);
      CHECK(adjacent(ring, from, to) == (east(ring, from) == to || west(ring, from) == to));
      CHECK(adjacent(path, from, to) == (east(path, from) == to || west(path, from) == to));
    }
  }
  CHECK(cables(ring) == 5);
  CHECK(cables(path) == 4);
  CHECK(cables(fabric("pair")) == 1);
  CHECK(cables(fabric("mesh:5")) == 10);
}

TEST_CASE("placement is a permutation") {
  const Placement placement = placed({2, 0, 3, 1});
  CHECK(placement.position(0) == 2);
  CHECK(placement.rank(2) == 0);
  for (int rank = 0; rank < 4; ++rank) CHECK(placement.rank(placement.position(rank)) == rank);
  CHECK(Placement::identity(3) == placed({0, 1, 2}));
  const std::vector<int> twice = {0, 1, 1};
  CHECK(has(Placement::from_positions(twice).status().message(),
            "ranks 1 and 2 are both at position 1"));
  const std::vector<int> outside = {0, 3, 1};
  CHECK(has(Placement::from_positions(outside).status().message(), "rank 1 is at position 3"));
}

TEST_CASE("drawings") {
  CHECK(draw(fabric("ring:4"), Placement::identity(4)) ==
        "[rank 0]---[rank 1]\n"
        "   |          |\n"
        "[rank 3]---[rank 2]\n");
  CHECK(draw(fabric("ring:4"), placed({2, 0, 3, 1})) ==
        "[rank 1]---[rank 3]\n"
        "   |          |\n"
        "[rank 2]---[rank 0]\n");
  CHECK(draw(fabric("ring:3"), Placement::identity(3)) ==
        "[rank 0]---[rank 1]\n"
        "   |          |\n"
        "[rank 2]------+\n");
  CHECK(draw(fabric("ring:5"), Placement::identity(5)) ==
        "[rank 0]---[rank 1]---[rank 2]\n"
        "   |                     |\n"
        "[rank 4]---[rank 3]------+\n");
  CHECK(draw(fabric("path:3"), placed({2, 1, 0})) == "[rank 2]---[rank 1]---[rank 0]\n");
  CHECK(draw(fabric("pair"), Placement::identity(2)) == "[rank 0]---[rank 1]\n");
  CHECK(draw(fabric("mesh:3"), Placement::identity(3)) ==
        "[rank 0] [rank 1] [rank 2] every two joined\n");
  CHECK(draw(fabric("mesh:1"), Placement::identity(1)) == "[rank 0] alone\n");
  // Two-digit ranks keep the columns straight.
  CHECK(draw(fabric("ring:12"), Placement::identity(12)) ==
        "[rank  0]---[rank  1]---[rank  2]---[rank  3]---[rank  4]---[rank  5]\n"
        "   |                                                           |\n"
        "[rank 11]---[rank 10]---[rank  9]---[rank  8]---[rank  7]---[rank  6]\n");
  CHECK(draw(fabric("ring:4"), Placement::identity(3)) == "ring:4\n");
}

}  // namespace sircl::topology
