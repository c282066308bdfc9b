// Takes the hub's notices to the engine, also those that come before it exists.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "comm/engine.hpp"

namespace sircl::detail {

class NoticeBox {
 public:
  /// From the member's thread.
  void put(const bootstrap::Notice& notice) {
    const std::lock_guard lock(mutex_);
    if (const auto engine = engine_.lock()) {
      tell(*engine, notice);
    } else {
      early_.push_back(notice);
    }
  }

  /// Whether the group has failed before there is an engine.
  [[nodiscard]] bool failed() {
    const std::lock_guard lock(mutex_);
    return std::any_of(early_.begin(), early_.end(), [](const bootstrap::Notice& notice) {
      return notice.kind != bootstrap::NoticeKind::left;
    });
  }

  void connect(const std::shared_ptr<Engine>& engine) {
    const std::lock_guard lock(mutex_);
    engine_ = engine;
    for (const bootstrap::Notice& notice : early_) tell(*engine, notice);
    early_.clear();
  }

 private:
  static void tell(Engine& engine, const bootstrap::Notice& notice) {
    switch (notice.kind) {
      case bootstrap::NoticeKind::left:
        engine.note_left(notice.rank);
        return;
      case bootstrap::NoticeKind::died:
      case bootstrap::NoticeKind::failed:
        (void)engine.failure().set({notice.code, notice.text});
        engine.wake();
        return;
    }
  }

  std::mutex mutex_;
  std::weak_ptr<Engine> engine_;
  std::vector<bootstrap::Notice> early_;
};

}  // namespace sircl::detail
