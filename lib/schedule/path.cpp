// Along a path, with no cable between its ends. Both directions work at once; nothing goes round.

#include <algorithm>

#include "schedule/builders.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

/// One end to the other, seen from a rank.
struct Way {
  int size = 0;
  int rank = 0;
  bool eastwards = true;

  /// Hops from the end where this way begins, and to the end where it stops.
  [[nodiscard]] int before() const { return eastwards ? rank : size - 1 - rank; }
  [[nodiscard]] int after() const { return size - 1 - before(); }
  [[nodiscard]] int next() const { return eastwards ? rank + 1 : rank - 1; }
  [[nodiscard]] int previous() const { return eastwards ? rank - 1 : rank + 1; }
  [[nodiscard]] int upstream(int hops) const { return eastwards ? rank - hops : rank + hops; }
  [[nodiscard]] Slice half(std::uint64_t count) const {
    return eastwards ? low_half(count) : high_half(count);
  }
};

/// Contributions add up on the way to the far end; the complete sum comes back the same way.
void all_reduce(const Request& request, const Way& way, StreamBuilder& stream) {
  const Slice part = way.half(request.counts[0]);
  std::vector<Operand> operands;
  if (way.before() > 0) operands.push_back(received(way.previous()));
  operands.push_back(local(input(part)));
  if (way.after() == 0) {
    stream.combine(way.size - 1, part.count, std::move(operands), output(part), {way.previous()},
                   true);
    return;
  }
  stream.combine(way.before(), part.count, std::move(operands), std::nullopt, {way.next()}, false);
  std::vector<int> back;
  if (way.before() > 0) back.push_back(way.previous());
  stream.move(way.size - 1 + way.after(), part.count, received(way.next()), output(part),
              std::move(back), true);
}

/// Every block travels from its rank to the end of the way.
void all_gather(const Request& request, const Way& way, StreamBuilder& stream) {
  for (int hop = 0; hop <= way.before(); ++hop) {
    const int block = way.upstream(hop);
    const Slice all{0, request.counts[static_cast<std::size_t>(block)]};
    std::vector<int> onwards;
    if (way.after() > 0) onwards.push_back(way.next());
    if (hop > 0) {
      stream.move(hop, all.count, received(way.previous()), output(all, block), std::move(onwards));
    } else if (way.eastwards || !onwards.empty()) {
      // One of the two streams keeps the rank's own block.
      stream.move(0, all.count, local(input(all)),
                  way.eastwards ? std::optional<Range>(output(all, block)) : std::nullopt,
                  std::move(onwards));
    }
  }
}

/// Partial sums of every block come to its rank from both sides. A stream carries one half of the
/// elements in both directions, because the last sum needs both; the halves differ in which
/// direction they serve first.
void reduce_scatter(const Request& request, int rank, bool low, StreamBuilder& stream) {
  const int size = request.size;
  const auto part = [&](int block) {
    const std::uint64_t count = request.counts[static_cast<std::size_t>(block)];
    return low ? low_half(count) : high_half(count);
  };
  // Farthest block first: it has the most hops to go.
  const auto send = [&](int round, const Way& way) {
    const int block = way.eastwards ? size - 1 - (round - way.before()) : round - way.before();
    if (round < way.before() || (way.eastwards ? block <= rank : block >= rank)) return;
    std::vector<Operand> operands;
    if (way.before() > 0) operands.push_back(received(way.previous()));
    operands.push_back(local(input(part(block), block)));
    stream.combine(round, part(block).count, std::move(operands), std::nullopt, {way.next()},
                   false);
  };
  for (int round = 0; round < size - 1; ++round) {
    send(round, {size, rank, low});
    send(round, {size, rank, !low});
  }
  std::vector<Operand> operands;
  if (rank > 0) operands.push_back(received(rank - 1));
  operands.push_back(local(input(part(rank), rank)));
  if (rank + 1 < size) operands.push_back(received(rank + 1));
  stream.combine(size - 1, part(rank).count, std::move(operands), output(part(rank)), {}, true);
}

void broadcast(const Request& request, int rank, StreamBuilder& stream) {
  const Slice all{0, request.counts[0]};
  const int root = request.root;
  std::vector<int> onwards;
  if (rank >= root && rank + 1 < request.size) onwards.push_back(rank + 1);
  if (rank <= root && rank > 0) onwards.push_back(rank - 1);
  const Operand source =
      rank == root ? local(input(all)) : received(rank > root ? rank - 1 : rank + 1);
  stream.move(std::abs(rank - root), all.count, source, output(all), std::move(onwards));
}

void reduce(const Request& request, int rank, StreamBuilder& stream) {
  const Slice all{0, request.counts[0]};
  const int root = request.root;
  std::vector<Operand> operands;
  if (rank > 0 && rank <= root) operands.push_back(received(rank - 1));
  operands.push_back(local(input(all)));
  if (rank + 1 < request.size && rank >= root) operands.push_back(received(rank + 1));
  const int rounds = std::max(root, request.size - 1 - root);
  if (rank == root) {
    stream.combine(rounds, all.count, std::move(operands), output(all), {}, true);
  } else {
    stream.combine(rank < root ? rank : request.size - 1 - rank, all.count, std::move(operands),
                   std::nullopt, {rank < root ? rank + 1 : rank - 1}, false);
  }
}

}  // namespace

Program build_path(const Request& request, int rank) {
  const int size = request.size;
  const Way east{size, rank, true};
  const Way west{size, rank, false};
  StreamBuilder first;
  StreamBuilder second;
  int rounds = size - 1;
  switch (request.collective) {
    case Collective::all_reduce:
      all_reduce(request, east, first);
      all_reduce(request, west, second);
      rounds = 2 * (size - 1);
      break;
    case Collective::all_gather:
      all_gather(request, east, first);
      all_gather(request, west, second);
      break;
    case Collective::reduce_scatter:
      reduce_scatter(request, rank, true, first);
      reduce_scatter(request, rank, false, second);
      break;
    case Collective::broadcast:
      broadcast(request, rank, first);
      rounds = std::max(request.root, size - 1 - request.root);
      break;
    case Collective::reduce:
      reduce(request, rank, first);
      rounds = std::max(request.root, size - 1 - request.root);
      break;
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
    case Collective::barrier:
      break;
  }
  return finish_program({&first, &second}, rounds);
}

}  // namespace sircl::schedule
