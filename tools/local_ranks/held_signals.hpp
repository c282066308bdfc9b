// Signals as something to wait for, beside file descriptors.
#pragma once

#include <signal.h>

#include <chrono>

namespace sircl::local {

/// Holds back the signals that a launcher waits for (SIGCHLD, SIGINT, SIGTERM, SIGHUP) as long as
/// it lives, so that none interrupts and none is missed.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Readable when a signal is there; -1 when the system has no more descriptors.
  [[nodiscard]] int fd() const { return fd_; }
  /// The next signal, or 0 when none came within `limit`.
  [[nodiscard]] int wait(std::chrono::milliseconds limit) const;
  /// In a new child: signals do what they did before.
  void release() const;

 private:
  sigset_t held_{};
  sigset_t before_{};
  int fd_ = -1;
};

}  // namespace sircl::local
