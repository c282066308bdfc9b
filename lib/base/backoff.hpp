// Adaptive waiting: spin a little, then yield, then tell the caller to sleep on its event.
//
// With more ranks than cores a spinning rank would hold the core that its peer needs, so spinning is
// short or off there, and the yield does the work: it hands the core to the peer in about a
// microsecond, where waking a sleeper takes tens.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

namespace sircl {

struct WaitPolicy {
  std::uint32_t spins = 0;               ///< polls before the first yield
  std::chrono::microseconds yield{2000};  ///< how long to yield before sleeping
};

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// One wait. Call pause() between polls.
class Backoff {
 public:
  explicit Backoff(const WaitPolicy& policy) noexcept : policy_(policy) {}

  /// Gives time away. Returns true when the caller should sleep on its event instead.
  bool pause() noexcept {
    if (round_ < policy_.spins) {
      ++round_;
      cpu_relax();
      return false;
    }
    sched_yield();
    ++yields_;
    // The clock is read on the first yield and then now and then: it costs as much as a poll.
    if (yields_ == 8) began_ = std::chrono::steady_clock::now();
    if (yields_ > 8 && (yields_ & 31) == 0) {
      sleeping_ = std::chrono::steady_clock::now() - began_ > policy_.yield;
    }
    return sleeping_;
  }

  /// Something moved: start over.
  void reset() noexcept {
    round_ = 0;
    yields_ = 0;
    sleeping_ = false;
  }
  [[nodiscard]] std::uint64_t yields() const noexcept { return yields_; }

 private:
  WaitPolicy policy_;
  std::uint32_t round_ = 0;
  std::uint64_t yields_ = 0;
  bool sleeping_ = false;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace sircl
