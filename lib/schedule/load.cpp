#include "schedule/load.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/steps.hpp"

namespace sircl::schedule {

std::uint64_t Load::max_elements() const {
  std::uint64_t most = 0;
  for (const DirectionLoad& direction : directions) most = std::max(most, direction.elements);
  return most;
}

std::uint64_t Load::max_elements_in_a_round() const {
  std::uint64_t most = 0;
  for (const DirectionLoad& direction : directions) {
    for (const std::uint64_t elements : direction.elements_by_round)
      most = std::max(most, elements);
  }
  return most;
}

std::uint64_t Load::bytes(int from, int to, std::size_t element_bytes) const {
  for (const DirectionLoad& direction : directions) {
    if (direction.from == from && direction.to == to) return direction.elements * element_bytes;
  }
  return 0;
}

Load measure(std::span<const Program> programs) {
  Load load;
  std::map<std::pair<int, int>, DirectionLoad> directions;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const int from = static_cast<int>(rank);
    std::uint64_t sent = 0;
    std::uint64_t combined = 0;
    load.rounds = std::max<int>(load.rounds, programs[rank].rounds);
    for (const Stream& stream : programs[rank].streams) {
      for (const Step& step : stream.steps) {
        if (!step.operands.empty()) combined += step.count * (step.operands.size() - 1);
        for (const int to : step.send_to) {
          DirectionLoad& direction = directions[{from, to}];
          direction.from = from;
          direction.to = to;
          direction.elements += step.count;
          direction.messages += 1;
          sent += step.count;
          auto& by_round = direction.elements_by_round;
          if (by_round.size() <= step.round) by_round.resize(std::size_t{step.round} + 1);
          by_round[step.round] += step.count;
        }
      }
    }
    load.elements_sent.push_back(sent);
    load.elements_combined.push_back(combined);
  }
  for (auto& entry : directions) load.directions.push_back(std::move(entry.second));
  return load;
}

std::optional<Share> share_of(const Request& request) {
  if (request.wiring == Wiring::mesh || request.size < 2 || request.counts.empty()) {
    return std::nullopt;
  }
  const double n = request.size;
  const auto largest = std::max_element(request.counts.begin(), request.counts.end());
  const auto block = static_cast<double>(*largest);
  // Two ranks: both ways round are the same cable.
  const double ways = request.size == 2 ? 2 : 1;
  const bool gathers = request.collective == Collective::all_gather;
  const bool one_block = !gathers && request.collective != Collective::reduce_scatter;
  switch (request.algorithm) {
    case Algorithm::direct:
      return std::nullopt;
    case Algorithm::exchange:
      if (request.wiring == Wiring::path) return Share{(n - 1) * block, block};
      return Share{ways * (n - 1) / 2 * block, block};
    case Algorithm::recursive_doubling:
      return Share{block, block / 2};
    case Algorithm::halving_doubling:
      return Share{block * 3 / 4, block / 4};
    case Algorithm::ring:
      if (request.collective == Collective::all_reduce) {
        return Share{ways * (n - 1) / n * block, ways * block / (2 * n)};
      }
      if (one_block) return Share{ways * block / 2, ways * block / 2};
      return Share{ways * (n - 1) / 2 * block, gathers ? block : ways * block / 2};
    case Algorithm::path:
      if (request.collective == Collective::all_reduce) return Share{block, block / 2};
      if (one_block) return Share{block, block};
      return Share{(n - 1) * block, block};
  }
  return std::nullopt;
}

double share_slack(std::uint64_t messages) {
  // A half is rounded by less than two units, a slice of it by less than one more.
  return 3.0 * static_cast<double>(kSliceElements) * static_cast<double>(messages);
}

}  // namespace sircl::schedule
