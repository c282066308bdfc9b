// Barriers are made of messages without elements. direct: everybody tells everybody. ring and path:
// every round each rank tells its neighbours, after it heard from them the round before; what a
// message implies ("the ranks within d hops have arrived") grows by one hop per round.

#include <algorithm>

#include "schedule/builders.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {

Program build_barrier(const Request& request, int rank) {
  const int size = request.size;
  std::vector<int> peers;
  int rounds = 1;
  if (request.algorithm == Algorithm::direct) {
    for (int hops = 1; hops < size; ++hops) peers.push_back(east_of(rank, size, hops));
  } else if (request.algorithm == Algorithm::ring) {
    peers.push_back(east_of(rank, size));
    if (size > 2) peers.push_back(west_of(rank, size));
    rounds = size / 2;
  } else {
    if (rank + 1 < size) peers.push_back(rank + 1);
    if (rank > 0) peers.push_back(rank - 1);
    rounds = size - 1;
  }
  Program program;
  program.rounds = static_cast<std::uint16_t>(rounds);
  Stream& stream = program.streams.emplace_back();
  for (int round = 0; round <= rounds; ++round) {
    Step step;
    step.round = static_cast<std::uint16_t>(round);
    if (round == 0) {
      step.operands.push_back(local(Range{}));
    } else {
      for (const int peer : peers) step.operands.push_back(received(peer));
    }
    if (round < rounds) step.send_to = peers;
    stream.steps.push_back(std::move(step));
  }
  return program;
}

}  // namespace sircl::schedule
