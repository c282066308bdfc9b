// Rank r runs on core r mod the number of cores, for ours and for every peer.
#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace sircl::local {

inline std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

inline void pin_to_core_of(int rank) {
  const std::vector<int> cores = allowed_cores();
  if (cores.empty()) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

}  // namespace sircl::local
