// Runs schedules over channels: any algorithm, any transport.
//
// Streams of a program run side by side; within a stream steps run in order, cut into messages of
// at most one slot. A step may have more messages than one, but no more than a quarter of the
// slots: then all sends of a step fit the peer's window even while nobody receives, and rings
// cannot block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "exec/channels.hpp"
#include "exec/operation.hpp"
#include "exec/waiter.hpp"

namespace sircl::exec {

/// Where the ranks sit: on cables neighbours in position share one.
struct Order {
  schedule::Wiring wiring = schedule::Wiring::mesh;
  std::vector<int> rank_at_position;  ///< empty: position = rank
};

/// How the ranks are joined; the same on every rank.
struct Wires {
  Order order;
  transport::WindowShape shape;          ///< of the channels between neighbours
  std::uint32_t far_slots = UINT32_MAX;  ///< of those through relays
  std::size_t min_slice_bytes = 0;       ///< see schedule::Request::min_slice
};

class ChannelExecutor {
 public:
  ChannelExecutor(Channels& channels, int rank, int ranks, const Wires& wires, Waiter& waiter,
                  LiveCounters& counters);

  Status run(const Operation& operation);
  /// For the operations that follow.
  void set_order(Order order);

  /// Bytes of the longest message sequence of one step.
  [[nodiscard]] std::size_t step_bytes() const noexcept { return step_bytes_; }

 private:
  struct Cursor {
    std::size_t step = 0;
    std::uint64_t done = 0;  ///< elements of the step
  };
  enum class Move { advanced, blocked, failed };

  Status greet(const Operation& operation);
  Status await_greetings(const Operation& operation);
  /// Calls `call` with the ranks that this one only sends to (sending_side) or only receives from.
  template <typename Call>
  Status each_counterpart(const Operation& operation, bool sending_side, Call&& call);
  /// Equal parts of a piece, of which the longest step has one.
  [[nodiscard]] std::size_t parts_of_piece(const Operation& operation) const noexcept;
  [[nodiscard]] std::size_t piece_elements(const Operation& operation) const noexcept;
  /// Elements of a message for a piece of that length; the same on every rank.
  [[nodiscard]] std::uint64_t message_elements(const Operation& operation,
                                               std::size_t length) const noexcept;
  Result<std::shared_ptr<const schedule::Program>> program_for(const Operation& operation,
                                                               std::size_t begin,
                                                               std::size_t length);
  Status run_pieces(const Operation& operation);
  Status run_piece(const Operation& operation, const schedule::Program& program,
                   const Addresses& addresses);
  Move advance(const Operation& operation, const schedule::Stream& stream, std::uint32_t number,
               Cursor& cursor, const Addresses& addresses);
  Move fail(Status status);
  Status lane_lost(int peer);

  Channels& channels_;
  int rank_;
  int ranks_;
  Order order_;
  Waiter& waiter_;
  LiveCounters& counters_;
  std::size_t slot_bytes_;
  std::size_t step_bytes_;              ///< of one step, between neighbours
  std::size_t direct_step_bytes_;       ///< and between any two ranks
  std::uint64_t message_elements_ = 0;  ///< in the running piece
  std::size_t min_slice_bytes_;         ///< see schedule::Request::min_slice
  std::unordered_map<std::string, std::shared_ptr<const schedule::Program>> programs_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::byte> scratch_;
  std::vector<std::byte> built_;  ///< a combined message for several receivers that is not kept
  std::vector<const void*> inputs_;
  std::vector<std::pair<int, cable::Channel::Message>> taken_;
  std::vector<Cursor> cursors_;
  int blocked_on_ = -1;
  Status failure_;
};

}  // namespace sircl::exec
