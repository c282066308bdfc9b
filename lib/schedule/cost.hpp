// Predicts how long a schedule takes, and chooses one. Everything comes from the programs
// themselves.
#pragma once

#include <cstdint>
#include <span>

#include "schedule/schedule.hpp"
#include "sircl/status.hpp"

namespace sircl::schedule {

struct Parameters {
  double alpha_us = 0;           ///< per round
  double beta_us_per_byte = 0;   ///< per byte over one direction of a cable (mesh: out of one rank)
  double gamma_us_per_byte = 0;  ///< per byte added into a sum by one rank
};

/// rounds * alpha + busiest direction * beta + busiest adder * gamma, in microseconds. Rounds
/// overlap when steps are cut into chunks, so bytes count once per wire and not once per round.
/// Ranks of a mesh share one way out (a host's memory, a network port): there all that a rank sends
/// counts.
Result<double> predict(const Request& request, std::size_t element_bytes,
                       const Parameters& parameters);

/// The algorithm with the smallest prediction among `allowed` (empty: all) for blocks of `bytes`
/// bytes (the whole vector for all_reduce, broadcast and reduce; one rank's block for the others).
/// Ties go to the earlier enumerator. Fails when none of them exists for the collective, wiring and
/// size.
Result<Algorithm> choose(Collective collective, Wiring wiring, int size, std::uint64_t bytes,
                         const Parameters& parameters, std::span<const Algorithm> allowed = {});

}  // namespace sircl::schedule
