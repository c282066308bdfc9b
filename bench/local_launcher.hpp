// Starts N ranks of a program on this host and waits for them.
#pragma once

#include <functional>
#include <string>

namespace sircl::bench {

/// Forks `ranks` children; each is pinned to core rank mod cores and runs `body(rank, root)`, where root is
/// "file:PATH" in a private directory. If one ends badly the others get five seconds to report, then they are killed.
/// Returns the worst exit status.
int run_locally(int ranks, const std::function<int(int rank, const std::string& root)>& body);

}  // namespace sircl::bench
