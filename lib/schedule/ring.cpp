// Both directions of a ring at once: the low half of every block travels east (stream 0), the high
// half west (stream 1). The streams share no element, so neither waits for the other.

#include "schedule/builders.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

/// One of the two ways round, seen from a rank.
struct Way {
  int size = 0;
  int rank = 0;
  bool eastwards = true;

  [[nodiscard]] int next() const { return downstream(1); }
  [[nodiscard]] int previous() const { return upstream(1); }
  [[nodiscard]] int upstream(int hops) const {
    return eastwards ? west_of(rank, size, hops) : east_of(rank, size, hops);
  }
  [[nodiscard]] int downstream(int hops) const {
    return eastwards ? east_of(rank, size, hops) : west_of(rank, size, hops);
  }
  [[nodiscard]] Slice half(std::uint64_t count) const {
    return eastwards ? low_half(count) : high_half(count);
  }
  /// How many hops `rank` lies downstream of `origin`.
  [[nodiscard]] int hops_from(int origin) const {
    return eastwards ? west_of(rank, size, origin) : west_of(origin, size, rank);
  }
};

/// Reduce-scatter, then all-gather; the last sum of the one is the first message of the other.
void all_reduce(const Request& request, const Way& way, StreamBuilder& stream) {
  const int size = way.size;
  const Slice whole = way.half(request.counts[0]);
  const auto part = [&](int index) { return slice(whole, size, index); };
  const auto sum = [&](const Slice& own) {
    return std::vector<Operand>{received(way.previous()), local(input(own))};
  };
  const Slice first = part(way.rank);
  stream.move(0, first.count, local(input(first)), std::nullopt, {way.next()});
  for (int hop = 1; hop < size - 1; ++hop) {
    const Slice partial = part(way.upstream(hop));
    stream.combine(hop, partial.count, sum(partial), std::nullopt, {way.next()}, false);
  }
  const Slice own = part(way.upstream(size - 1));
  stream.combine(size - 1, own.count, sum(own), output(own), {way.next()}, true);
  for (int hop = 1; hop < size; ++hop) {
    const Slice complete = part(way.upstream(size - 1 + hop));
    std::vector<int> onwards;
    if (hop < size - 1) onwards.push_back(way.next());
    stream.move(size - 1 + hop, complete.count, received(way.previous()), output(complete),
                std::move(onwards), true);
  }
}

/// Block b starts at the rank after b and collects contributions until it is at home.
void reduce_scatter(const Request& request, const Way& way, StreamBuilder& stream) {
  const int size = way.size;
  for (int hop = 0; hop < size; ++hop) {
    const int block = way.upstream(hop + 1);
    const Slice part = way.half(request.counts[static_cast<std::size_t>(block)]);
    const Operand own = local(input(part, block));
    if (hop == 0) {
      stream.move(0, part.count, own, std::nullopt, {way.next()});
    } else if (hop < size - 1) {
      stream.combine(hop, part.count, {received(way.previous()), own}, std::nullopt, {way.next()},
                     false);
    } else {
      stream.combine(hop, part.count, {received(way.previous()), own}, output(part), {}, true);
    }
  }
}

/// Blocks go the short way: everything up to half way round, and to the opposite rank (even sizes)
/// one half of the elements from either side. So here a stream carries both halves, as two
/// messages.
void all_gather(const Request& request, const Way& way, StreamBuilder& stream) {
  const int size = way.size;
  const auto hops_of = [&](bool low) {
    return size % 2 == 1 || low == way.eastwards ? size / 2 : size / 2 - 1;
  };
  for (int hop = 0; hop <= size / 2; ++hop) {
    const int block = way.upstream(hop);
    const std::uint64_t count = request.counts[static_cast<std::size_t>(block)];
    for (const bool low : {true, false}) {
      const Slice part = low ? low_half(count) : high_half(count);
      std::vector<int> onwards;
      if (hop < hops_of(low)) onwards.push_back(way.next());
      if (hop == 0) {
        // Each stream keeps its own half of the rank's own block.
        const bool keep = low == way.eastwards;
        if (!keep && onwards.empty()) continue;
        stream.move(0, part.count, local(input(part)),
                    keep ? std::optional<Range>(output(part, block)) : std::nullopt,
                    std::move(onwards));
      } else if (hop <= hops_of(low)) {
        stream.move(hop, part.count, received(way.previous()), output(part, block),
                    std::move(onwards));
      }
    }
  }
}

void broadcast(const Request& request, const Way& way, StreamBuilder& stream) {
  const Slice part = way.half(request.counts[0]);
  const int hops = way.hops_from(request.root);
  std::vector<int> onwards;
  if (hops < way.size - 1) onwards.push_back(way.next());
  stream.move(hops, part.count, hops == 0 ? local(input(part)) : received(way.previous()),
              output(part), std::move(onwards));
}

/// A chain of sums that starts after the root and ends at it.
void reduce(const Request& request, const Way& way, StreamBuilder& stream) {
  const Slice part = way.half(request.counts[0]);
  const int hops = way.hops_from(request.root);
  if (hops == 0) {
    stream.combine(way.size - 1, part.count, {received(way.previous()), local(input(part))},
                   output(part), {}, true);
  } else if (hops == 1) {
    stream.move(0, part.count, local(input(part)), std::nullopt, {way.next()});
  } else {
    stream.combine(hops - 1, part.count, {received(way.previous()), local(input(part))},
                   std::nullopt, {way.next()}, false);
  }
}

}  // namespace

Program build_ring(const Request& request, int rank) {
  StreamBuilder streams[2];
  int rounds = 0;
  for (const bool eastwards : {true, false}) {
    const Way way{request.size, rank, eastwards};
    StreamBuilder& stream = streams[eastwards ? 0 : 1];
    switch (request.collective) {
      case Collective::all_reduce:
        all_reduce(request, way, stream);
        rounds = 2 * (request.size - 1);
        break;
      case Collective::reduce_scatter:
        reduce_scatter(request, way, stream);
        rounds = request.size - 1;
        break;
      case Collective::all_gather:
        all_gather(request, way, stream);
        rounds = request.size / 2;
        break;
      case Collective::broadcast:
        broadcast(request, way, stream);
        rounds = request.size - 1;
        break;
      case Collective::reduce:
        reduce(request, way, stream);
        rounds = request.size - 1;
        break;
      case Collective::gather:
      case Collective::scatter:
      case Collective::all_to_all:
      case Collective::barrier:
        break;
    }
  }
  return finish_program({&streams[0], &streams[1]}, rounds);
}

}  // namespace sircl::schedule
