#include "topology/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace sircl::topology {
namespace {

constexpr std::array<FabricKind, 4> kKinds = {FabricKind::ring, FabricKind::path, FabricKind::pair,
                                              FabricKind::mesh};

bool closed(const Fabric& fabric) { return fabric.kind != FabricKind::path; }
bool contains(const Fabric& fabric, int position) {
  return position >= 0 && position < fabric.size;
}

Status refuse(std::string_view text, std::string_view why) {
  return {StatusCode::invalid_setting,
          fmt::format("fabric \"{}\": {}; possible are ring:N, path:N, pair, mesh:N and auto", text,
                      why)};
}

}  // namespace

std::string_view to_string(FabricKind kind) noexcept {
  switch (kind) {
    case FabricKind::ring:
      return "ring";
    case FabricKind::path:
      return "path";
    case FabricKind::pair:
      return "pair";
    case FabricKind::mesh:
      return "mesh";
  }
  return "invalid";
}

std::string to_string(const Fabric& fabric) {
  if (fabric.kind == FabricKind::pair) return "pair";
  return fmt::format("{}:{}", to_string(fabric.kind), fabric.size);
}

Result<std::optional<Fabric>> parse_fabric(std::string_view text) {
  if (text == "auto") return std::optional<Fabric>();
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](FabricKind candidate) {
    return to_string(candidate) == name;
  });
  if (kind == kKinds.end()) return refuse(text, fmt::format("there is no fabric \"{}\"", name));
  const bool is_pair = *kind == FabricKind::pair;
  if (colon == std::string_view::npos) {
    if (is_pair) return std::optional<Fabric>({FabricKind::pair, 2});
    return refuse(text, fmt::format("the number of positions is missing, as in {}:4", name));
  }
  const std::string_view digits = text.substr(colon + 1);
  int size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error == std::errc::result_out_of_range) {
    return refuse(text, fmt::format("at most {} positions are possible", kMaxPositions));
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return refuse(text, fmt::format("\"{}\" is not a number of positions", digits));
  }
  if (is_pair && size != 2) return refuse(text, "a pair has two positions");
  const int least = *kind == FabricKind::mesh ? 1 : 2;
  if (size < least) return refuse(text, fmt::format("a {} has {} or more positions", name, least));
  if (size > kMaxPositions) {
    return refuse(text, fmt::format("at most {} positions are possible", kMaxPositions));
  }
  if (size == 2 && *kind != FabricKind::mesh) return std::optional<Fabric>({FabricKind::pair, 2});
  return std::optional<Fabric>({*kind, size});
}

std::optional<int> east(const Fabric& fabric, int position) {
  if (!contains(fabric, position) || fabric.size < 2) return std::nullopt;
  if (position + 1 < fabric.size) return position + 1;
  return closed(fabric) ? std::optional<int>(0) : std::nullopt;
}

std::optional<int> west(const Fabric& fabric, int position) {
  if (!contains(fabric, position) || fabric.size < 2) return std::nullopt;
  if (position > 0) return position - 1;
  return closed(fabric) ? std::optional<int>(fabric.size - 1) : std::nullopt;
}

std::optional<int> hops_east(const Fabric& fabric, int from, int to) {
  if (!contains(fabric, from) || !contains(fabric, to)) return std::nullopt;
  if (to >= from) return to - from;
  return closed(fabric) ? std::optional<int>(to - from + fabric.size) : std::nullopt;
}

std::optional<int> hops_west(const Fabric& fabric, int from, int to) {
  return hops_east(fabric, to, from);
}

int hops(const Fabric& fabric, int from, int to) {
  if (fabric.kind == FabricKind::mesh) return from == to ? 0 : 1;
  // One of the two ways always exists.
  const int eastwards = hops_east(fabric, from, to).value_or(fabric.size);
  const int westwards = hops_west(fabric, from, to).value_or(fabric.size);
  return std::min(eastwards, westwards);
}

bool adjacent(const Fabric& fabric, int from, int to) { return hops(fabric, from, to) == 1; }

int cables(const Fabric& fabric) {
  switch (fabric.kind) {
    case FabricKind::ring:
      return fabric.size;
    case FabricKind::path:
    case FabricKind::pair:
      return fabric.size - 1;
    case FabricKind::mesh:
      return fabric.size * (fabric.size - 1) / 2;
  }
  return 0;
}

}  // namespace sircl::topology
