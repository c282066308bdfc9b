#include "comm/selection.hpp"

namespace sircl::detail {

using schedule::Algorithm;
using schedule::Collective;

namespace {

// Measured with ring_allreduce_bench on a two-core x86-64 machine, four ranks; see bench/README.md.
constexpr std::size_t kBoardOneshotMaxBytes = 16 * 1024;
// On TCP a message costs more than its first few thousand bytes, so fewer rounds win; a large group
// would send too many of them.
constexpr std::size_t kTcpOneshotMaxBytes = 8 * 1024;
constexpr int kTcpOneshotMaxRanks = 8;

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
  if (rules_.shared_memory || rules_.exact) {
    const std::size_t limit =
        rules_.oneshot_max_bytes != 0 ? rules_.oneshot_max_bytes : kBoardOneshotMaxBytes;
    return {bytes <= limit ? Algorithm::exchange : Algorithm::direct, rules_.shared_memory};
  }
  const std::size_t limit =
      rules_.oneshot_max_bytes != 0 ? rules_.oneshot_max_bytes : kTcpOneshotMaxBytes;
  if (bytes <= limit && rules_.ranks <= kTcpOneshotMaxRanks) return {Algorithm::exchange, false};
  return {Algorithm::direct, false};
}

}  // namespace sircl::detail
