// A board per rank in shared memory: its owner publishes, everybody else reads in place.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/segment.hpp"

namespace sircl::transport {

class PeerMemory;

class Board {
 public:
  Board(std::byte* segment, const shm::Layout& layout, int rank)
      : segment_(segment),
        layout_(layout),
        rank_(rank),
        seen_(static_cast<std::size_t>(layout.ranks), 0) {}

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int ranks() const noexcept { return layout_.ranks; }
  [[nodiscard]] std::size_t half_bytes() const noexcept { return layout_.half_bytes; }
  [[nodiscard]] std::byte* half(int rank, int which) const noexcept {
    return segment_ + layout_.board(rank, which);
  }

  /// Once, before the ranks meet: who this is, and a word of its memory that others may look at.
  void introduce(std::int64_t process, const std::uint64_t* probe) noexcept {
    own_line().process = process;
    own_line().probe = reinterpret_cast<std::uintptr_t>(probe);
  }
  [[nodiscard]] pid_t process(int peer) const noexcept {
    return static_cast<pid_t>(line(peer).process);
  }
  [[nodiscard]] std::uint64_t probe(int peer) const noexcept { return line(peer).probe; }

  /// Announces what the next flags belong to. Entry n % 2 is free: all ranks have entered operation
  /// n - 1 before anybody enters n, so nobody compares n - 2 any more.
  void announce(const OperationTag& tag, const shm::UserBuffers& buffers = {}) noexcept {
    shm::RankLine& line = own_line();
    line.buffers[tag.sequence & 1] = buffers;
    line.tag[tag.sequence & 1] = tag;
    line.signature[tag.sequence & 1] = tag.signature();
  }

  /// Publishes everything written so far. The release pairs with the acquire in reached(): the
  /// bytes and the signature are visible to whoever sees the flag. It also orders this rank's
  /// earlier reads of other boards before it, so a peer that sees the flag may overwrite what was
  /// read.
  void raise(std::uint64_t value) noexcept {
    own_line().flag.store(value, std::memory_order_release);
    ring_bell();
  }

  /// Whether `peer` has raised `value` or more. Remembers, so that a second look costs no cache
  /// miss.
  [[nodiscard]] bool reached(int peer, std::uint64_t value) noexcept {
    std::uint64_t& seen = seen_[static_cast<std::size_t>(peer)];
    if (seen >= value) return true;
    seen = line(peer).flag.load(std::memory_order_acquire);
    return seen >= value;
  }
  [[nodiscard]] std::uint64_t signature(int peer, std::uint64_t sequence) const noexcept {
    return line(peer).signature[sequence & 1];
  }
  [[nodiscard]] shm::UserBuffers buffers(int peer, std::uint64_t sequence) const noexcept {
    return line(peer).buffers[sequence & 1];
  }
  [[nodiscard]] OperationTag tag(int peer, std::uint64_t sequence) const noexcept {
    return line(peer).tag[sequence & 1];
  }

  /// How to read the others' own memory; null where the system forbids it.
  [[nodiscard]] PeerMemory* peer_memory() const noexcept { return peer_memory_; }
  void set_peer_memory(PeerMemory* memory) noexcept { peer_memory_ = memory; }

  /// Wakes sleepers, if there are any. The fence orders the flag before the look at `sleepers`:
  /// either the sleeper sees the flag when it looks again after registering, or this sees the
  /// sleeper.
  void ring_bell() noexcept;

 private:
  [[nodiscard]] shm::RankLine& line(int rank) const noexcept {
    return *std::launder(reinterpret_cast<shm::RankLine*>(
        segment_ + layout_.lines() + sizeof(shm::RankLine) * static_cast<std::size_t>(rank)));
  }
  [[nodiscard]] shm::RankLine& own_line() const noexcept { return line(rank_); }

  std::byte* segment_;
  shm::Layout layout_;
  int rank_;
  std::vector<std::uint64_t> seen_;
  PeerMemory* peer_memory_ = nullptr;
};

}  // namespace sircl::transport
