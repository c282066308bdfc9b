// The timing loop. Ours and every peer run this same code.
#pragma once

#include <ctime>

#include <chrono>
#include <vector>

namespace sircl::bench {

struct Timing {
  std::vector<double> iteration_us;  ///< one entry per timed iteration, of this rank
  double cpu_us = 0;                 ///< processor time of this process per timed iteration
};

inline double process_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

/// Calls `operation` back to back: `warmup` times untimed, `iterations` times timed. Nothing
/// happens between two calls but the reading of the clock. Ends early, with false, when
/// `operation` returns false.
template <typename Operation>
bool time_loop(int warmup, int iterations, Timing& timing, Operation&& operation) {
  using Clock = std::chrono::steady_clock;
  timing.iteration_us.assign(static_cast<std::size_t>(iterations), 0.0);
  for (int i = 0; i < warmup; ++i) {
    if (!operation()) return false;
  }
  const double cpu = process_cpu_us();
  auto before = Clock::now();
  for (double& spent : timing.iteration_us) {
    if (!operation()) return false;
    const auto after = Clock::now();
    spent = std::chrono::duration<double, std::micro>(after - before).count();
    before = after;
  }
  timing.cpu_us = (process_cpu_us() - cpu) / iterations;
  return true;
}

}  // namespace sircl::bench
