// Starts N ranks of a program on this host and waits for them.
#pragma once

#include <functional>

namespace sircl::bench {

/// Forks `ranks` children; each is pinned to core rank mod cores and runs `body(rank)`; after that
/// `parent` runs once here. If one ends badly the others get five seconds to report, then they are
/// killed; so they are when this process is asked to end. Returns the worst exit status.
int run_locally(int ranks, const std::function<int(int rank)>& body,
                const std::function<void()>& parent);

}  // namespace sircl::bench
