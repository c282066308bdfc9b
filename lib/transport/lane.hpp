// The transport contract: a lane joins two endpoints, and each may put bytes into the other's
// window.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::transport {

/// Flags are 64-bit words inside a window; this is how both sides look at one.
inline std::atomic<std::uint64_t>& flag_at(std::byte* window, std::uint64_t offset) noexcept {
  return *std::launder(reinterpret_cast<std::atomic<std::uint64_t>*>(window + offset));
}

/// One endpoint of a lane. Used by one thread at a time.
///
/// Ordering: a flag becomes visible in the peer's window only after the bytes of the same put, and
/// puts become visible in posting order. Posting never blocks. Failure is sticky, but for lanes
/// that say something else by losses().
///
/// Several lanes may lead to one peer. They share its window, and flags only ever grow: a put whose
/// flag is no news there has come by another lane before, and is dropped with its bytes.
class Lane {
 public:
  virtual ~Lane() = default;

  /// The local window: what the peer puts arrives here.
  [[nodiscard]] virtual std::byte* window() noexcept = 0;
  /// Whether put() may be called now; false is the normal answer of a full queue.
  [[nodiscard]] virtual bool can_put() noexcept = 0;
  /// Writes `head` then `body` to the peer's window at `offset`, then sets the word at
  /// `flag_offset` to `flag_value`. Both sources may be reused on return. Only after can_put().
  virtual void put(std::uint64_t offset, std::span<const std::byte> head,
                   std::span<const std::byte> body, std::uint64_t flag_offset,
                   std::uint64_t flag_value) noexcept = 0;
  /// The peer's window as local memory, or null where the peer is not mapped. Who writes there
  /// calls put() with an empty body for the rest.
  [[nodiscard]] virtual std::byte* mapped_peer() noexcept { return nullptr; }
  /// Bytes put to [offset, offset + to.size()) of the own window are stored in `to` instead, until
  /// the next call; an empty `to` ends it, and what part of an unfinished put stands in the old
  /// memory moves to the window. False: not possible, or not now.
  virtual bool redirect([[maybe_unused]] std::uint64_t offset, std::span<std::byte> to) noexcept {
    return to.empty();
  }
  /// Moves bytes that are under way. True when something may have changed.
  virtual bool progress() noexcept = 0;
  /// A descriptor that polls readable when something arrives; -1: none (see Transport::sleep).
  [[nodiscard]] virtual int wait_fd() const noexcept { return -1; }
  /// ok, or why nothing more will arrive or leave.
  [[nodiscard]] virtual Status status() const = 0;
  [[nodiscard]] virtual bool failed() const noexcept = 0;
  /// Flags cost no message of their own here, so credits may be returned at once.
  [[nodiscard]] virtual bool cheap_flags() const noexcept = 0;

  // For lanes beside others.
  /// How often puts that were under way may have been lost. A lane whose count has grown may work
  /// again: failed() says whether it does.
  [[nodiscard]] virtual std::uint32_t losses() const noexcept { return failed() ? 1 : 0; }
  /// Bytes posted that have not arrived yet, as far as is known here.
  [[nodiscard]] virtual std::size_t backlog() noexcept { return 0; }
  /// Seconds that a byte takes, as measured; only the ratio between lanes matters.
  [[nodiscard]] virtual double seconds_per_byte() const noexcept { return 1; }
  /// Only for when none of the others works.
  [[nodiscard]] virtual bool spare() const noexcept { return false; }
  /// Bytes carried so far, with what the lane adds to them.
  [[nodiscard]] virtual std::uint64_t bytes_out() const noexcept { return 0; }
  [[nodiscard]] virtual std::uint64_t bytes_in() const noexcept { return 0; }
};

/// Bytes of window that two channels per lane need, see cable/channel.hpp.
struct WindowShape {
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;
  std::size_t window_bytes = 0;
};

class Board;

/// All lanes of one rank, and what its ranks share.
class Transport {
 public:
  virtual ~Transport() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Null for the own rank.
  [[nodiscard]] virtual Lane* lane(int peer) noexcept = 0;
  /// Of the window that the peer puts into, where it is another one than most have.
  [[nodiscard]] virtual std::optional<WindowShape> shape_to([[maybe_unused]] int peer) const {
    return std::nullopt;
  }
  /// All lanes to a peer, where they may fail and come back: channels over them keep what they send
  /// until it is credited. Empty: there is just lane().
  [[nodiscard]] virtual std::vector<Lane*> lanes([[maybe_unused]] int peer) { return {}; }
  /// Work that no lane() of a peer does when it makes progress: passing on what is for others. True
  /// when something moved.
  virtual bool serve() noexcept { return false; }
  /// Whether serve() must be called although no operation runs here, and rest() in between.
  [[nodiscard]] virtual bool must_serve() const noexcept { return false; }
  /// Until serve() may have something to do; from any thread, beside the one that uses the lanes.
  virtual void rest([[maybe_unused]] std::chrono::milliseconds limit) noexcept {}
  /// The board of ranks that share a host, else null.
  [[nodiscard]] virtual Board* board() noexcept { return nullptr; }
  /// Where memory is shared between processes: bytes of the whole group; else of this rank.
  [[nodiscard]] virtual std::size_t memory_bytes() const noexcept = 0;
  /// To sleep without losing a wake-up: prepare_sleep(), look for work once more, then either
  /// sleep() until something may have arrived (for `limit` at most) or cancel_sleep().
  virtual void prepare_sleep() noexcept {}
  virtual void cancel_sleep() noexcept {}
  virtual void sleep(std::chrono::milliseconds limit) noexcept = 0;
  /// Ends a sleep of this rank early; from any thread.
  virtual void wake() noexcept = 0;
  /// Sends what is pending, for `limit` at most.
  virtual void close(std::chrono::milliseconds limit) noexcept = 0;
};

}  // namespace sircl::transport
