// Starts the ranks of a peer that has no launcher of its own.
#pragma once

#include <functional>

namespace sircl::bench {

/// Forks `ranks` children, each pinned to its core, and waits for them. Returns the worst exit
/// status. The children end when this process ends.
int fork_ranks(int ranks, const std::function<int(int rank)>& body);

}  // namespace sircl::bench
