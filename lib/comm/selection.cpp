#include "comm/selection.hpp"

#include <bit>
#include <vector>

namespace sircl::detail {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Wiring;

namespace {

// Measured with ring_allreduce_bench on a two-core x86-64 machine; see bench/README.md.
constexpr std::size_t kBoardOneshotMaxBytes = 12 * 1024;
constexpr std::size_t kBoardOneshotMaxBytesOfPair = 32 * 1024;  // the same bytes, fewer flags

// On TCP a message costs more than its first few thousand bytes. Between hosts fewer rounds win for
// short blocks, unless the group is large: it would send too many messages.
constexpr std::size_t kTcpOneshotMaxBytes = 8 * 1024;
constexpr int kTcpOneshotMaxRanks = 8;
// On one host all ranks pay for all messages with the same processors: fewer messages win, so short
// blocks are summed by one rank (2 * (ranks - 1) messages, where exchange has ranks * (ranks - 1)).
constexpr std::size_t kLoopbackMinSliceBytes = 64 * 1024;

}  // namespace

Selection::Selection(const SelectionRules& rules) : rules_(rules) {
  if (rules_.wiring != Wiring::mesh) predict_all_reduce();
  if (!rules.forced) return;
  for (int c = 0; c < schedule::kCollectiveCount; ++c) {
    forced_for_[c] = exists(static_cast<Collective>(c), *rules.forced);
  }
}

bool Selection::exists(Collective collective, Algorithm algorithm) const {
  schedule::Request request;
  request.collective = collective;
  request.algorithm = algorithm;
  // Through relays everybody reaches everybody.
  request.wiring = algorithm == Algorithm::direct ? Wiring::mesh : rules_.wiring;
  request.size = rules_.ranks;
  const std::size_t blocks =
      schedule::block_count(collective, static_cast<std::size_t>(rules_.ranks));
  request.counts.assign(blocks, 1);
  return schedule::supports(request).ok();
}

void Selection::predict_all_reduce() {
  std::vector<Algorithm> allowed = {Algorithm::exchange};
  if (!rules_.exact) {
    allowed = {Algorithm::exchange, Algorithm::recursive_doubling, Algorithm::halving_doubling,
               Algorithm::ring};
    if (rules_.wiring == Wiring::path) allowed = {Algorithm::exchange, Algorithm::path};
  }
  all_reduce_.fill(allowed.back());
  for (std::size_t i = 0; i < 40; ++i) {
    const auto best = schedule::choose(Collective::all_reduce, rules_.wiring, rules_.ranks,
                                       std::size_t{1} << i, rules_.costs, allowed);
    if (best) all_reduce_[i] = *best;
  }
}

Choice Selection::on_cables(Collective collective, std::size_t bytes) const noexcept {
  const Algorithm neighbours = rules_.wiring == Wiring::path ? Algorithm::path : Algorithm::ring;
  switch (collective) {
    case Collective::all_reduce:
      if (bytes <= rules_.oneshot_max_bytes) return {Algorithm::exchange, false};
      return {all_reduce_[static_cast<std::size_t>(std::bit_width(bytes))], false};
    case Collective::reduce_scatter:
    case Collective::reduce:
      return {rules_.exact ? Algorithm::direct : neighbours, false};
    case Collective::all_gather:
    case Collective::broadcast:
    case Collective::barrier:
      return {neighbours, false};
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
      return {Algorithm::direct, false};
  }
  return {neighbours, false};
}

Choice Selection::choose(Collective collective, std::size_t bytes) const noexcept {
  const auto board = [this](Algorithm algorithm) {
    return rules_.shared_memory &&
           (algorithm == Algorithm::direct || algorithm == Algorithm::exchange);
  };
  if (rules_.forced && forced_for_[static_cast<int>(collective)]) {
    return {*rules_.forced, board(*rules_.forced)};
  }
  if (rules_.wiring != Wiring::mesh) return on_cables(collective, bytes);
  if (collective != Collective::all_reduce) return {Algorithm::direct, rules_.shared_memory};
  if (rules_.shared_memory) {
    const std::size_t normal =
        rules_.ranks == 2 ? kBoardOneshotMaxBytesOfPair : kBoardOneshotMaxBytes;
    const std::size_t limit = rules_.oneshot_max_bytes != 0 ? rules_.oneshot_max_bytes : normal;
    return {bytes <= limit ? Algorithm::exchange : Algorithm::direct, true};
  }
  const std::size_t normal =
      rules_.one_host || rules_.ranks > kTcpOneshotMaxRanks ? 0 : kTcpOneshotMaxBytes;
  const std::size_t limit = rules_.oneshot_max_bytes != 0 ? rules_.oneshot_max_bytes : normal;
  return {bytes <= limit ? Algorithm::exchange : Algorithm::direct, false};
}

std::size_t Selection::min_slice_bytes() const noexcept {
  return rules_.one_host && !rules_.shared_memory ? kLoopbackMinSliceBytes : 0;
}

}  // namespace sircl::detail
