// One builder per algorithm family. Each takes a request that supports() accepted and the rank,
// which is the position on the cables (see build_placed). Where direct and exchange add up, the
// step has one operand per rank, in the order of the ranks.
#pragma once

#include "schedule/schedule.hpp"

namespace sircl::schedule {

/// All collectives, every pair connected.
Program build_direct(const Request& request, int rank);
/// all_reduce on any wiring.
Program build_exchange(const Request& request, int rank);
/// all_reduce of four ranks.
Program build_recursive_doubling(const Request& request, int rank);
/// all_reduce of four ranks.
Program build_halving_doubling(const Request& request, int rank);
/// all_reduce, all_gather, reduce_scatter, broadcast, reduce around a ring.
Program build_ring(const Request& request, int rank);
/// The same along a path.
Program build_path(const Request& request, int rank);
/// barrier, for `algorithm` direct, ring and path.
Program build_barrier(const Request& request, int rank);
/// What is left of any collective with one rank: the local move.
Program build_alone(const Request& request);

/// Whether the request has this rank.
Status has_rank(const Request& request, int rank);

}  // namespace sircl::schedule
