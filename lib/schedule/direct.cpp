// Every pair of ranks has a channel. Sums are formed once, by the owner of a block, in rank order.

#include <algorithm>

#include "schedule/builders.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

/// Rank `rank`'s range in its place among what the others sent.
std::vector<Operand> in_rank_order(int size, int rank, const Range& own) {
  std::vector<Operand> operands;
  for (int from = 0; from < size; ++from) {
    operands.push_back(from == rank ? local(own) : received(from));
  }
  return operands;
}

/// All others, the next one first, so that not everybody writes to the same rank at once.
std::vector<int> others(int size, int rank) {
  std::vector<int> ranks;
  for (int hops = 1; hops < size; ++hops) ranks.push_back(east_of(rank, size, hops));
  return ranks;
}

/// How many ranks sum a slice each.
int owner_count(const Request& request) {
  const auto size = static_cast<std::uint64_t>(request.size);
  if (request.min_slice == 0) return request.size;
  return static_cast<int>(
      std::clamp<std::uint64_t>(request.counts[0] / request.min_slice, 1, size));
}

Program all_reduce(const Request& request, int rank) {
  const int size = request.size;
  const Slice all{0, request.counts[0]};
  const int owners = owner_count(request);
  const auto part = [&](int owner) {
    return owner < owners ? slice(all, owners, owner) : Slice{all.count, 0};
  };
  StreamBuilder stream;
  for (const int to : others(size, rank)) {
    stream.move(0, part(to).count, local(input(part(to))), std::nullopt, {to});
  }
  const Slice own = part(rank);
  stream.combine(1, own.count, in_rank_order(size, rank, input(own)), output(own),
                 others(size, rank), true);
  for (int hops = 1; hops < size; ++hops) {
    const int from = west_of(rank, size, hops);
    stream.move(2, part(from).count, received(from), output(part(from)), {}, true);
  }
  return finish_program({&stream}, 2);
}

Program reduce_scatter(const Request& request, int rank) {
  StreamBuilder stream;
  const auto block = [&](int b) { return Slice{0, request.counts[static_cast<std::size_t>(b)]}; };
  for (const int to : others(request.size, rank)) {
    stream.move(0, block(to).count, local(input(block(to), to)), std::nullopt, {to});
  }
  stream.combine(1, block(rank).count, in_rank_order(request.size, rank, input(block(rank), rank)),
                 output(block(rank)), {}, true);
  return finish_program({&stream}, 1);
}

Program all_gather(const Request& request, int rank) {
  StreamBuilder stream;
  const auto block = [&](int b) { return Slice{0, request.counts[static_cast<std::size_t>(b)]}; };
  stream.move(0, block(rank).count, local(input(block(rank))), output(block(rank), rank),
              others(request.size, rank));
  for (int hops = 1; hops < request.size; ++hops) {
    const int from = west_of(rank, request.size, hops);
    stream.move(1, block(from).count, received(from), output(block(from), from));
  }
  return finish_program({&stream}, 1);
}

Program broadcast(const Request& request, int rank) {
  StreamBuilder stream;
  const Slice all{0, request.counts[0]};
  if (rank == request.root) {
    stream.move(0, all.count, local(input(all)), output(all), others(request.size, rank));
  } else {
    stream.move(1, all.count, received(request.root), output(all));
  }
  return finish_program({&stream}, 1);
}

Program reduce(const Request& request, int rank) {
  StreamBuilder stream;
  const Slice all{0, request.counts[0]};
  if (rank == request.root) {
    stream.combine(1, all.count, in_rank_order(request.size, rank, input(all)), output(all), {},
                   true);
  } else {
    stream.move(0, all.count, local(input(all)), std::nullopt, {request.root});
  }
  return finish_program({&stream}, 1);
}

Program gather(const Request& request, int rank) {
  StreamBuilder stream;
  const auto block = [&](int b) { return Slice{0, request.counts[static_cast<std::size_t>(b)]}; };
  if (rank != request.root) {
    stream.move(0, block(rank).count, local(input(block(rank))), std::nullopt, {request.root});
    return finish_program({&stream}, 1);
  }
  stream.move(0, block(rank).count, local(input(block(rank))), output(block(rank), rank));
  for (int hops = 1; hops < request.size; ++hops) {
    const int from = west_of(rank, request.size, hops);
    stream.move(1, block(from).count, received(from), output(block(from), from));
  }
  return finish_program({&stream}, 1);
}

Program scatter(const Request& request, int rank) {
  StreamBuilder stream;
  const auto block = [&](int b) { return Slice{0, request.counts[static_cast<std::size_t>(b)]}; };
  if (rank != request.root) {
    stream.move(1, block(rank).count, received(request.root), output(block(rank)));
    return finish_program({&stream}, 1);
  }
  for (const int to : others(request.size, rank)) {
    stream.move(0, block(to).count, local(input(block(to), to)), std::nullopt, {to});
  }
  stream.move(0, block(rank).count, local(input(block(rank), rank)), output(block(rank)));
  return finish_program({&stream}, 1);
}

Program all_to_all(const Request& request, int rank) {
  const int size = request.size;
  const auto amount = [&](int from, int to) {
    return Slice{0, request.counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(size) +
                                   static_cast<std::size_t>(to)]};
  };
  StreamBuilder stream;
  for (const int to : others(size, rank)) {
    const Slice part = amount(rank, to);
    stream.move(0, part.count, local(input(part, to)), std::nullopt, {to});
  }
  const Slice own = amount(rank, rank);
  stream.move(0, own.count, local(input(own, rank)), output(own, rank));
  for (int hops = 1; hops < size; ++hops) {
    const int from = west_of(rank, size, hops);
    const Slice part = amount(from, rank);
    stream.move(1, part.count, received(from), output(part, from));
  }
  return finish_program({&stream}, 1);
}

}  // namespace

Program build_direct(const Request& request, int rank) {
  switch (request.collective) {
    case Collective::all_reduce:
      return all_reduce(request, rank);
    case Collective::all_gather:
      return all_gather(request, rank);
    case Collective::reduce_scatter:
      return reduce_scatter(request, rank);
    case Collective::broadcast:
      return broadcast(request, rank);
    case Collective::reduce:
      return reduce(request, rank);
    case Collective::gather:
      return gather(request, rank);
    case Collective::scatter:
      return scatter(request, rank);
    case Collective::all_to_all:
      return all_to_all(request, rank);
    case Collective::barrier:
      return build_barrier(request, rank);
  }
  return {};
}

}  // namespace sircl::schedule
