// Runs collectives of ranks that share a host over their boards: no copies beyond publishing, no
// system call, no lock and no allocation for operations of a shape seen before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/board_sync.hpp"
#include "exec/operation.hpp"
#include "exec/plan_cache.hpp"
#include "transport/shm/board.hpp"

namespace sircl::exec {

class BoardExecutor {
 public:
  BoardExecutor(transport::Board& board, std::size_t piece_bytes, BoardSync& sync,
                LiveCounters& counters);

  /// Runs a collective with a board algorithm (direct or exchange).
  Status run(const Operation& operation);
  /// The same for an operation that is announced already, and has used the flags below `flag`.
  Status run_from(const Operation& operation, std::uint64_t flag);

  /// Bytes that half a board needs for pieces of `piece_bytes`.
  static std::size_t half_bytes(std::size_t piece_bytes, int ranks) {
    return piece_bytes + 64 * (static_cast<std::size_t>(ranks) + 2);
  }

 private:
  Status run_piece(const Operation& operation, const BoardPlan& plan, std::uint64_t base,
                   const Addresses& addresses);
  Status move(const Operation& operation, const BoardPlan& plan, const BoardAction& action,
              std::uint64_t base, const Addresses& addresses);

  transport::Board& board_;
  std::size_t piece_bytes_;
  BoardSync& sync_;
  LiveCounters& counters_;
  PlanCache plans_;
  std::vector<std::byte> scratch_;
  std::vector<const void*> inputs_;
  bool streaming_ = false;  ///< the running operation's output goes past the caches
};

}  // namespace sircl::exec
