// The agreement that ranks of one host keep over their boards: who has come how far in which
// operation, and that all are in the same one.
//
// A rank's flag only grows: (operation << 24) | step. Executors number the steps of an operation
// alike on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/operation.hpp"
#include "exec/waiter.hpp"
#include "transport/shm/board.hpp"

namespace sircl::exec {

class BoardSync {
 public:
  BoardSync(transport::Board& board, Waiter& waiter)
      : board_(board), waiter_(waiter), checked_(static_cast<std::size_t>(board.ranks()), 0) {}

  /// The first flag of an operation: its owner has announced it and passed its buffers.
  [[nodiscard]] static std::uint64_t first_flag(const Operation& operation) noexcept {
    return (operation.tag.sequence << kFlagBits) | 1;
  }

  /// Says what comes, and where it may be read. No flag yet.
  void announce(const Operation& operation,
                const transport::shm::UserBuffers& buffers = {}) noexcept {
    board_.announce(operation.tag, buffers);
  }
  /// The next piece begins, and `flag` will be its first.
  void begin_piece(std::uint64_t flag) noexcept {
    previous_ = entered_;
    entered_ = flag;
    ++pieces_;
  }
  /// Announces an operation that uses no board, and raises its first flag.
  void enter(const Operation& operation) noexcept;
  /// Waits until every other rank has entered the operation, and sees that it is the same.
  Status check_all(const Operation& operation) {
    return await_all(operation, first_flag(operation));
  }

  /// Waits until `peer` has raised `flag`; its operation is compared with the first flag of it.
  Status await(const Operation& operation, int peer, std::uint64_t flag) {
    if (board_.reached(peer, flag) &&
        (checked_[static_cast<std::size_t>(peer)] == operation.tag.sequence ||
         flag < first_flag(operation))) {
      return {};
    }
    return await_slowly(operation, peer, flag);
  }
  Status await_all(const Operation& operation, std::uint64_t flag);
  /// Until all others have begun the piece before this one: then they have ended the one before
  /// that, and nobody reads the half of the board in which this one goes.
  Status await_half(const Operation& operation) { return await_all(operation, previous_); }
  /// Which half of the boards the current piece uses.
  [[nodiscard]] int half() const noexcept { return static_cast<int>(pieces_ & 1); }

 private:
  Status await_slowly(const Operation& operation, int peer, std::uint64_t flag);
  Status compare(const Operation& operation, int peer) const;

  static constexpr int kFlagBits = 24;
  transport::Board& board_;
  Waiter& waiter_;
  std::vector<std::uint64_t> checked_;  ///< per peer: the last operation that was compared
  std::uint64_t entered_ = 0;           ///< first flag of the newest piece
  std::uint64_t previous_ = 0;          ///< first flag of the piece before
  std::uint64_t pieces_ = 0;
};

}  // namespace sircl::exec
