// Layout of the memory that the ranks of one host share: header, one line block per rank, boards,
// lane windows. Written by all ranks, so everything here is either owned by one rank or atomic.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transport/operation_tag.hpp"

namespace sircl::transport::shm {

inline constexpr std::uint32_t kMagic = 0x5349524C;
inline constexpr std::size_t kLine = 64;

struct Header {
  std::uint32_t magic;
  std::uint32_t ranks;
  std::uint64_t token;
  alignas(
      kLine) std::atomic<std::uint32_t> bell;  ///< rung after a flag is set while somebody sleeps
  alignas(
      kLine) std::atomic<std::uint32_t> sleepers;  ///< ranks that are about to sleep on the bell
};

/// Where the buffers of an operation lie in their owner's address space; zero: not to be read
/// there.
struct UserBuffers {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// What a rank tells the others. `flag` only grows: (operation << 24) | step of the operation.
struct RankLine {
  alignas(kLine) std::atomic<std::uint64_t> flag;
  std::array<std::uint64_t, 2>
      signature;  ///< of operation n in entry n % 2, written before its first flag
  std::array<UserBuffers, 2> buffers;  ///< likewise, of operations that are read in place
  alignas(kLine)
      std::array<OperationTag, 2> tag;  ///< the same in full, read only when signatures differ
  alignas(kLine) std::int64_t process;  ///< written before the ranks meet, as is the next
  std::uint64_t probe;                  ///< address of a word that holds the group's token
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// Offsets into the segment; a pure function of the parameters, equal on all ranks.
struct Layout {
  int ranks = 0;
  std::size_t half_bytes = 0;    ///< one half of one rank's board
  std::size_t window_bytes = 0;  ///< one lane window (one ordered pair of ranks)

  [[nodiscard]] std::size_t lines() const { return sizeof(Header); }
  [[nodiscard]] std::size_t boards() const {
    const std::size_t end = lines() + sizeof(RankLine) * static_cast<std::size_t>(ranks);
    return (end + 4095) / 4096 * 4096;
  }
  [[nodiscard]] std::size_t board(int rank, int half) const {
    return boards() +
           (static_cast<std::size_t>(rank) * 2 + static_cast<std::size_t>(half)) * half_bytes;
  }
  [[nodiscard]] std::size_t windows() const {
    return boards() + static_cast<std::size_t>(ranks) * 2 * half_bytes;
  }
  /// The window of `owner` into which `writer` puts.
  [[nodiscard]] std::size_t window(int owner, int writer) const {
    const auto index =
        static_cast<std::size_t>(owner * (ranks - 1) + (writer < owner ? writer : writer - 1));
    return windows() + index * window_bytes;
  }
  [[nodiscard]] std::size_t total() const {
    return windows() +
           static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks - 1) * window_bytes;
  }
};

}  // namespace sircl::transport::shm
