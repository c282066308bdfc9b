#include "comm/selection.hpp"

namespace sircl::detail {

using schedule::Algorithm;
using schedule::Collective;

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
  if (!rules.forced) return;
  for (int c = 0; c < schedule::kCollectiveCount; ++c) {
    schedule::Request request;
    request.collective = static_cast<Collective>(c);
    request.algorithm = *rules.forced;
    request.wiring = schedule::Wiring::mesh;
    request.size = rules.ranks;
    const std::size_t blocks =
        schedule::block_count(request.collective, static_cast<std::size_t>(rules.ranks));
    request.counts.assign(blocks, 1);
    forced_for_[c] = schedule::supports(request).ok();
  }
}

Choice Selection::choose(Collective collective, std::size_t bytes) const noexcept {
  const auto board = [this](Algorithm algorithm) {
    return rules_.shared_memory &&
           (algorithm == Algorithm::direct || algorithm == Algorithm::exchange);
  };
  if (rules_.forced && forced_for_[static_cast<int>(collective)]) {
    return {*rules_.forced, board(*rules_.forced)};
  }
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
