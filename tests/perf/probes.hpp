// Counts what a thread does besides computing: allocations, locks and system calls.
#pragma once

#include <string>

namespace sircl::perf {

/// From here on every system call of the calling thread other than sched_yield, futex and the
/// reading of clocks (where the kernel offers no cheaper way) is refused and counted; the thread
/// can only report and exit afterwards. False where the kernel does not allow such a filter.
bool refuse_system_calls();

/// Counting of the calling thread, between start and the reading of its result.
void start_counting();
/// "" if nothing was counted, else what and how often.
std::string stop_counting();

}  // namespace sircl::perf
