// A lane made of plain memory, stepped by hand: puts wait until the receiver delivers them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "transport/lane.hpp"

namespace sircl::test {

class MemoryLane final : public transport::Lane {
 public:
  struct Behaviour {
    std::size_t queue = SIZE_MAX;  ///< puts that may wait; more make can_put() false
    bool cheap_flags = false;
    bool mapped = false;  ///< the peer's window is mapped_peer()
    bool redirects = false;
  };

  MemoryLane(std::size_t window_bytes, const Behaviour& behaviour)
      : behaviour_(behaviour), words_(window_bytes / 8 + 1), bytes_(window_bytes) {}
  static void join(MemoryLane& one, MemoryLane& other) {
    one.peer_ = &other;
    other.peer_ = &one;
  }

  std::byte* window() noexcept override { return reinterpret_cast<std::byte*>(words_.data()); }
  bool can_put() noexcept override {
    return status_.ok() && peer_->waiting_.size() < behaviour_.queue;
  }
  void put(std::uint64_t offset, std::span<const std::byte> head, std::span<const std::byte> body,
           std::uint64_t flag_offset, std::uint64_t flag_value) noexcept override {
    Put put{offset, {head.begin(), head.end()}, flag_offset, flag_value};
    put.bytes.insert(put.bytes.end(), body.begin(), body.end());
    ++puts_;
    if (put.bytes.empty()) ++flag_puts_;
    peer_->waiting_.push_back(std::move(put));
  }
  std::byte* mapped_peer() noexcept override {
    return behaviour_.mapped ? peer_->window() : nullptr;
  }
  bool redirect(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    if (!behaviour_.redirects) return to.empty();
    redirected_ = offset;
    redirected_to_ = to;
    return true;
  }
  bool progress() noexcept override {
    bool moved = false;
    while (deliver()) moved = true;
    return moved;
  }
  Status status() const override { return status_; }
  bool failed() const noexcept override { return !status_.ok(); }
  bool cheap_flags() const noexcept override { return behaviour_.cheap_flags; }

  /// Lets the oldest put arrive; false: there is none.
  bool deliver() noexcept {
    if (waiting_.empty()) return false;
    const Put put = std::move(waiting_.front());
    waiting_.pop_front();
    for (std::size_t i = 0; i < put.bytes.size(); ++i) {
      const std::uint64_t at = put.offset + i;
      const bool away = at >= redirected_ && at < redirected_ + redirected_to_.size();
      (away ? redirected_to_[at - redirected_] : window()[at]) = put.bytes[i];
    }
    transport::flag_at(window(), put.flag_offset).store(put.flag_value);
    return true;
  }
  void fail(Status status) { status_ = std::move(status); }
  [[nodiscard]] std::uint64_t puts() const { return puts_; }
  /// Puts without bytes: what a credit costs when it does not travel with a message.
  [[nodiscard]] std::uint64_t flag_puts() const { return flag_puts_; }
  [[nodiscard]] std::size_t window_bytes() const { return bytes_; }

 private:
  struct Put {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
    std::uint64_t flag_offset;
    std::uint64_t flag_value;
  };

  Behaviour behaviour_;
  std::vector<std::uint64_t> words_;  // so that flags are aligned
  std::size_t bytes_;
  MemoryLane* peer_ = nullptr;
  std::deque<Put> waiting_;
  std::uint64_t redirected_ = 0;
  std::span<std::byte> redirected_to_;
  Status status_;
  std::uint64_t puts_ = 0;
  std::uint64_t flag_puts_ = 0;
};

/// One rank's lanes. Sleeping counts, and runs `on_sleep` where a test wants something to happen.
class MemoryTransport final : public transport::Transport {
 public:
  explicit MemoryTransport(int ranks) : lanes_(static_cast<std::size_t>(ranks)) {}

  std::string name() const override { return "memory"; }
  transport::Lane* lane(int peer) noexcept override {
    return lanes_[static_cast<std::size_t>(peer)].get();
  }
  std::size_t memory_bytes() const noexcept override { return 0; }
  void prepare_sleep() noexcept override { ++prepared; }
  void cancel_sleep() noexcept override { ++cancelled; }
  void sleep(std::chrono::milliseconds) noexcept override {
    ++slept;
    if (on_sleep) on_sleep();
  }
  void wake() noexcept override { ++woken; }
  void close(std::chrono::milliseconds) noexcept override {}

  MemoryLane& at(int peer) { return *lanes_[static_cast<std::size_t>(peer)]; }

  /// Every pair of `transports` gets a lane.
  static void join(std::vector<std::unique_ptr<MemoryTransport>>& transports,
                   std::size_t window_bytes, const MemoryLane::Behaviour& behaviour) {
    for (std::size_t a = 0; a < transports.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        transports[a]->lanes_[b] = std::make_unique<MemoryLane>(window_bytes, behaviour);
        transports[b]->lanes_[a] = std::make_unique<MemoryLane>(window_bytes, behaviour);
        MemoryLane::join(*transports[a]->lanes_[b], *transports[b]->lanes_[a]);
      }
    }
  }

  std::uint64_t prepared = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t slept = 0;
  std::uint64_t woken = 0;
  std::function<void()> on_sleep;

 private:
  std::vector<std::unique_ptr<MemoryLane>> lanes_;
};

}  // namespace sircl::test
