// Runs collectives of ranks that share a host over their boards: no copies beyond publishing, no
// system call, no lock and no allocation for operations of a shape seen before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/board_plan.hpp"
#include "exec/operation.hpp"
#include "exec/waiter.hpp"
#include "transport/shm/board.hpp"

namespace sircl::exec {

class BoardExecutor {
 public:
  BoardExecutor(transport::Board& board, std::size_t piece_bytes, Waiter& waiter,
                LiveCounters& counters);

  /// Runs a collective with a board algorithm (direct or exchange).
  Status run(const Operation& operation);

  /// The two halves of the agreement that every operation of these ranks makes, also one that moves
  /// its bytes elsewhere: announce and raise the first flag; then see that all others announced the
  /// same.
  void enter(const Operation& operation) noexcept;
  Status check_all(const Operation& operation);

  /// Bytes that half a board needs for pieces of `piece_bytes`.
  static std::size_t half_bytes(std::size_t piece_bytes, int ranks) {
    return piece_bytes + 64 * (static_cast<std::size_t>(ranks) + 2);
  }

 private:
  struct Key {
    std::uint8_t collective = 0, algorithm = 0, element_bytes = 0;
    int root = 0;
    std::uint64_t count = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::unique_ptr<BoardPlan> plan;
  };

  Result<const BoardPlan*> plan_for(const Operation& operation, std::size_t begin,
                                    std::size_t length);
  Status run_piece(const Operation& operation, const BoardPlan& plan, std::uint64_t base,
                   const Addresses& addresses);
  Status move(const Operation& operation, const BoardPlan& plan, const BoardAction& action,
              std::uint64_t base, const Addresses& addresses);
  Status await(const Operation& operation, int peer, std::uint64_t value);
  Status compare(const Operation& operation, int peer) const;

  transport::Board& board_;
  std::size_t piece_bytes_;
  Waiter& waiter_;
  LiveCounters& counters_;
  std::vector<Entry> plans_;             ///< direct-mapped by key
  std::unique_ptr<BoardPlan> odd_plan_;  ///< of a piece of unequal blocks, built anew each time
  std::vector<std::uint64_t> counts_;    ///< reused
  std::vector<std::byte> scratch_;
  std::vector<const void*> inputs_;
  std::vector<std::uint64_t> checked_;  ///< per peer: the last operation that was compared
  bool streaming_ = false;              ///< the running operation's output goes past the caches
  std::uint64_t entered_ = 0;           ///< first flag of the newest piece
  std::uint64_t previous_ = 0;          ///< first flag of the piece before
  std::uint64_t pieces_ = 0;
};

}  // namespace sircl::exec
