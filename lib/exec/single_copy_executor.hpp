// Runs large collectives of ranks that share a host straight from buffer to buffer: every byte that
// changes ranks is copied once, by its receiver, out of the memory of its sender.
//
// The plans are those of the boards; only where a source is read differs. Flags say when a buffer
// may be read, and no rank returns before all have read what they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "exec/board_executor.hpp"
#include "transport/shm/peer_memory.hpp"

namespace sircl::exec {

class SingleCopyExecutor {
 public:
  /// `boards` takes over where somebody's buffers cannot be read, such as memory of a device.
  SingleCopyExecutor(transport::Board& board, const transport::PeerMemory& memory,
                     std::size_t min_bytes, BoardSync& sync, BoardExecutor& boards,
                     const Failure& failure, LiveCounters& counters);

  /// Whether it would serve this one; the same on every rank.
  [[nodiscard]] bool suits(const Operation& operation) const noexcept;
  Status run(const Operation& operation);

 private:
  [[nodiscard]] transport::shm::UserBuffers offer(const Operation& operation) const noexcept;
  Status move(const Operation& operation, const BoardPlan& plan, const BoardAction& action,
              std::uint64_t base, const Addresses& addresses);
  Status fetch(const Operation& operation, const BoardSource& source, std::size_t skip,
               std::byte* to, std::size_t bytes, const Addresses& addresses);

  transport::Board& board_;
  const transport::PeerMemory& memory_;
  std::size_t min_bytes_;
  BoardSync& sync_;
  BoardExecutor& boards_;
  const Failure& failure_;
  LiveCounters& counters_;
  PlanCache plans_;
  std::vector<std::byte> tiles_;  ///< per peer: what of its contribution is being combined
  std::vector<const void*> inputs_;
};

}  // namespace sircl::exec
