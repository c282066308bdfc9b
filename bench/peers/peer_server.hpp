// What all peer programs share: they connect to the bench, wait for requests, and measure.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "../case.hpp"
#include "../request.hpp"

namespace sircl::bench {

/// One peer as seen by one of its ranks.
class Peer {
 public:
  virtual ~Peer() = default;
  /// The operation to time, or an empty function and in `reason` why this peer has no such thing.
  virtual std::function<bool()> prepare(const Case& measured, std::string& reason) = 0;
  /// Buffers for a shape; a peer may place them in memory of its own.
  virtual std::unique_ptr<Case> make_case(const Shape& shape, int rank, int ranks) {
    return std::make_unique<Case>(shape, rank, ranks);
  }
};

/// Serves the bench that listens on the unix socket `path` until it says "quit" or goes away.
///
/// Every rank has its own connection, so that all of them sleep in read() while others are being
/// measured: a rank that waited inside its library would take processor time from them. A rank
/// says "rank R\n" first. Requests are lines (request.hpp); the answer is
/// "ok WRONG CPU_US\n" and then one double per iteration, or "unsupported REASON\n", or
/// "error REASON\n". Returns the exit status of the program.
int serve(const std::string& path, int rank, int ranks, Peer& peer);

}  // namespace sircl::bench
