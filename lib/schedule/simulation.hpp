// Runs the programs of all ranks on symbolic values.
#pragma once

#include <cstdint>
#include <span>

#include "schedule/buffers.hpp"
#include "schedule/schedule.hpp"
#include "sircl/status.hpp"

namespace sircl::schedule {

/// Who moves next. With bounded channels the streams of a rank compete for the room.
enum class Turns : std::uint8_t {
  run_ahead,  ///< a stream goes as far as it can
  alternate,  ///< every stream does one step
};

/// How a simulation differs from the others; a correct schedule passes all of them.
struct Conditions {
  Placement placement = Placement::separate;
  /// Messages that a rank may have under way to one other before its sends wait; 0: any number.
  int window = 0;
  Turns turns = Turns::run_ahead;
};

/// ok, or the first thing that is wrong: rank, stream, step and why.
Status simulate(const Request& request, std::span<const Program> programs,
                const Conditions& conditions);

}  // namespace sircl::schedule
