// Proves a schedule: every output element gets every contribution exactly once, whatever the
// timing.
#pragma once

#include <span>

#include "schedule/schedule.hpp"
#include "sircl/status.hpp"

namespace sircl::schedule {

/// Builds the programs of all ranks and checks them. `rank_at_position`: see build_placed.
Status check(const Request& request, std::span<const int> rank_at_position = {});

/// Checks given programs (one per rank) against the request; ok, or the first fault found.
///
/// - Form: ranks, ranges, blocks and scratch exist; counts agree; the input is never written; on a
/// ring or
///   path only neighbours in position talk; rounds do not go back.
/// - Independence: streams of a rank never touch memory that another stream of it writes, and a
/// step never
///   reads what it overwrites elsewhere. Hence one simulation stands for every interleaving and
///   every cutting into chunks.
/// - Values, by simulation with separate buffers and in place: nothing unwritten is read, no
/// contribution is
///   missing or doubled, each message meets a receiver that expects its count, nobody waits for
///   ever (also when only kWindowMessages may be under way between two ranks), all ranks of an
///   all_reduce get the same bits, `finish` and `reduce` are right, and the direct and exchange
///   sums are in rank order.
/// - Load: no direction of a cable carries more than its share, in the whole and per round.
Status check_programs(const Request& request, std::span<const Program> programs,
                      std::span<const int> rank_at_position = {});

/// Executors provide room for at least this many messages of the longest step per ordered pair of
/// ranks.
inline constexpr int kWindowMessages = 4;

}  // namespace sircl::schedule
