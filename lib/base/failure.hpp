// The sticky failure of a communicator: the first one wins, everybody can see it cheaply.
#pragma once

#include <atomic>
#include <mutex>

#include "sircl/status.hpp"

namespace sircl {

class Failure {
 public:
  /// One relaxed load: made for wait loops. The text is read under a lock afterwards.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

  [[nodiscard]] Status status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  /// Keeps `status` if it is the first; returns the one that is kept.
  Status set(const Status& status) {
    const std::lock_guard lock(mutex_);
    if (status_.ok() && !status.ok()) {
      status_ = status;
      failed_.store(true, std::memory_order_release);
    }
    return status_;
  }

 private:
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  Status status_;
};

}  // namespace sircl
