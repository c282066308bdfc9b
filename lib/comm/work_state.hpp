// The shared end of an asynchronous operation.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "sircl/status.hpp"

namespace sircl::detail {

class Engine;

class WorkState {
 public:
  explicit WorkState(std::weak_ptr<Engine> engine = {}) : engine_(std::move(engine)) {}

  void finish(Status status) {
    status_ = std::move(status);
    done_.store(true, std::memory_order_release);  // the status is visible before the flag
    done_.notify_all();
  }
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Helps to drive the engine while it waits.
  Status wait();

 private:
  friend class Engine;
  std::atomic<bool> done_{false};
  Status status_;
  std::weak_ptr<Engine> engine_;
};

}  // namespace sircl::detail
