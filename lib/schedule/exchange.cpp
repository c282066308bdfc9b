// Everybody's block reaches everybody; each rank adds all of them up in rank order, rounding once.
// On a mesh that is one round. On a ring and on a path blocks are forwarded in both directions; on
// a ring of even size the block of the opposite rank comes half from either side, so that both
// directions carry the same.

#include <algorithm>

#include "schedule/builders.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

Program on_mesh(const Request& request, int rank) {
  const Slice all{0, request.counts[0]};
  std::vector<int> others;
  std::vector<Operand> operands;
  for (int hops = 1; hops < request.size; ++hops) {
    others.push_back(east_of(rank, request.size, hops));
  }
  for (int from = 0; from < request.size; ++from) {
    operands.push_back(from == rank ? local(input(all)) : received(from));
  }
  StreamBuilder stream;
  stream.move(0, all.count, local(input(all)), std::nullopt, std::move(others));
  stream.combine(1, all.count, std::move(operands), output(all), {}, true);
  return finish_program({&stream}, 1);
}

/// How the blocks of one range of elements travel, seen from one rank.
struct Flow {
  int size = 0;
  int rank = 0;
  Slice part;
  bool wraps = false;  ///< ring
  int east_hops = 0;   ///< how far a block travels eastwards
  int west_hops = 0;

  [[nodiscard]] bool has_east() const { return wraps || rank + 1 < size; }
  [[nodiscard]] bool has_west() const { return wraps || rank > 0; }
  /// Blocks that arrive from the west: those of the ranks 1..n hops to the west.
  [[nodiscard]] int arrivals_from_west() const {
    return wraps ? east_hops : std::min(east_hops, rank);
  }
  [[nodiscard]] int arrivals_from_east() const {
    return wraps ? west_hops : std::min(west_hops, size - 1 - rank);
  }
};

/// Appends one flow; returns the scratch it uses from `scratch_base` on.
std::uint64_t append_flow(const Flow& flow, std::uint64_t scratch_base, StreamBuilder& stream) {
  const int east = east_of(flow.rank, flow.size);
  const int west = west_of(flow.rank, flow.size);
  const std::uint64_t count = flow.part.count;
  std::vector<Operand> by_rank(static_cast<std::size_t>(flow.size));
  by_rank[static_cast<std::size_t>(flow.rank)] = local(input(flow.part));

  std::vector<int> first;
  if (flow.east_hops > 0 && flow.has_east()) first.push_back(east);
  if (flow.west_hops > 0 && flow.has_west()) first.push_back(west);
  stream.move(0, count, local(input(flow.part)), std::nullopt, std::move(first));

  std::uint64_t used = 0;
  // The block of `owner` comes in from `from`. The last one of a side that nobody waits for goes
  // straight into the sum; the others are kept, because messages of one side come in hop order
  // but are added in rank order.
  const auto arrive = [&](int round, int from, int owner, bool last, bool forward, int to) {
    Operand& operand = by_rank[static_cast<std::size_t>(owner)];
    if (last && !forward) {
      operand = received(from);
      return;
    }
    const Range kept = scratch(scratch_base + used, count);
    used += count;
    stream.move(round, count, received(from), kept,
                forward ? std::vector<int>{to} : std::vector<int>{});
    operand = local(kept);
  };
  const int from_west = flow.arrivals_from_west();
  const int from_east = flow.arrivals_from_east();
  for (int hop = 1; hop <= std::max(from_west, from_east); ++hop) {
    if (hop <= from_west) {
      arrive(hop, west, west_of(flow.rank, flow.size, hop), hop == from_west,
             hop < flow.east_hops && flow.has_east(), east);
    }
    if (hop <= from_east) {
      arrive(hop, east, east_of(flow.rank, flow.size, hop), hop == from_east,
             hop < flow.west_hops && flow.has_west(), west);
    }
  }
  stream.combine(std::max(from_west, from_east), count, std::move(by_rank), output(flow.part), {},
                 true);
  return used;
}

}  // namespace

Program build_exchange(const Request& request, int rank) {
  if (request.wiring == Wiring::mesh || request.size == 2) return on_mesh(request, rank);
  const std::uint64_t count = request.counts[0];
  Flow flow;
  flow.size = request.size;
  flow.rank = rank;
  StreamBuilder first;
  StreamBuilder second;
  if (request.wiring == Wiring::path) {
    flow.part = {0, count};
    flow.east_hops = flow.west_hops = request.size - 1;
    const std::uint64_t used = append_flow(flow, 0, first);
    return finish_program({&first}, request.size - 1, used);
  }
  flow.wraps = true;
  const int half_way = request.size / 2;
  if (request.size % 2 == 1) {
    flow.part = {0, count};
    flow.east_hops = flow.west_hops = half_way;
    const std::uint64_t used = append_flow(flow, 0, first);
    return finish_program({&first}, half_way, used);
  }
  flow.part = low_half(count);
  flow.east_hops = half_way;
  flow.west_hops = half_way - 1;
  std::uint64_t used = append_flow(flow, 0, first);
  flow.part = high_half(count);
  std::swap(flow.east_hops, flow.west_hops);
  used += append_flow(flow, used, second);
  return finish_program({&first, &second}, half_way, used);
}

}  // namespace sircl::schedule
