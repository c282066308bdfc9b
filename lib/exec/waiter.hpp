// Waiting for a peer: adaptive, and ended by failure, abort, departure or lack of progress.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/backoff.hpp"
#include "base/failure.hpp"
#include "transport/lane.hpp"

namespace sircl::exec {

/// Written by the driving thread, read by any.
struct LiveCounters {
  std::atomic<std::uint64_t> operations{0}, bytes_in{0}, bytes_sent{0}, bytes_received{0},
      yields{0}, sleeps{0}, failures{0}, single_copies{0};
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
    // One writer: no need for an atomic read-modify-write on the hot path.
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

struct WaiterOptions {
  WaitPolicy policy;
  std::chrono::milliseconds progress_limit{600'000};
  int ranks = 1;
};

class Waiter {
 public:
  Waiter(const WaiterOptions& options, Failure& failure, transport::Transport* transport,
         LiveCounters& counters)
      : options_(options),
        failure_(failure),
        transport_(transport),
        counters_(counters),
        left_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(options.ranks))) {}

  /// Work to do while waiting (sends and receives beside a collective).
  void set_idle(std::function<void()> idle) { idle_ = std::move(idle); }
  /// Called now and then during a wait that lasts long (true the first time), to find out what is
  /// wrong.
  void set_slow(std::function<void(bool first)> slow) { slow_ = std::move(slow); }
  void note_left(int rank) noexcept { left_[static_cast<std::size_t>(rank)].store(true); }
  [[nodiscard]] bool all_left_but(int rank) const noexcept {
    for (int other = 0; other < options_.ranks; ++other) {
      if (other != rank && !left_[static_cast<std::size_t>(other)].load()) return false;
    }
    return true;
  }
  [[nodiscard]] Failure& failure() noexcept { return failure_; }

  /// Polls until `ready()`; the peer waited for (or -1) is named in errors. ready() is called
  /// often.
  template <typename Ready>
  Status wait(int peer, Ready&& ready) {
    if (ready()) return {};
    Backoff backoff(options_.policy);
    Status status;
    while (!ready()) {
      if (failure_.failed()) {
        status = failure_.status();
        break;
      }
      if (idle_) idle_();
      if (backoff.pause()) {
        transport_->prepare_sleep();
        if (ready()) {
          transport_->cancel_sleep();
          break;
        }
        transport_->sleep(kNap);
        LiveCounters::add(counters_.sleeps, 1);
        if (status = overdue(peer, backoff); !status.ok()) break;
      }
    }
    LiveCounters::add(counters_.yields, backoff.yields());
    began_ = {};
    return status;
  }

 private:
  /// The slow path: nothing has come for some milliseconds.
  Status overdue(int peer, const Backoff& backoff);

  static constexpr std::chrono::milliseconds kNap{20};
  WaiterOptions options_;
  Failure& failure_;
  transport::Transport* transport_;
  LiveCounters& counters_;
  std::unique_ptr<std::atomic<bool>[]> left_;
  std::function<void()> idle_;
  std::function<void(bool)> slow_;
  std::chrono::steady_clock::time_point began_{};
  bool slow_done_ = false;
};

}  // namespace sircl::exec
