// Runs all measurements, ours and the peers' in turns, and hands each result on as it comes.
#pragma once

#include <functional>

#include "gate.hpp"
#include "options.hpp"
#include "peers.hpp"
#include "report.hpp"
#include "sircl/sircl.hpp"

namespace sircl::bench {

/// What the speaking rank does with a finished row.
using RowSink = std::function<void(const Row&)>;

/// Collective over the communicator. Only rank 0 has results: in `report`. `gate` and `peers` may
/// be null (no peers). An error means that nothing more can be measured.
Status run_all(const BenchOptions& options, Communicator& communicator, Gate* gate, Peers* peers,
               Report& report, const RowSink& sink);

/// The same without us.
void run_peers(const BenchOptions& options, Peers& peers, Report& report, const RowSink& sink);

}  // namespace sircl::bench
