// Parts of a group on cables that have ended here, but may still have to pass on what others say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace sircl::detail {

class RetiredParts {
 public:
  /// Numbers a part; the same on every rank, for all ranks take part in every split.
  std::uint64_t begin() {
    const std::lock_guard lock(mutex_);
    alive_.insert(next_);
    return next_++;
  }
  /// `part` goes on until it is dropped.
  void retire(std::uint64_t number, std::shared_ptr<void> part) {
    const std::lock_guard lock(mutex_);
    alive_.erase(number);
    retired_.emplace(number, std::move(part));
  }
  /// All parts with lower numbers have ended here.
  [[nodiscard]] std::uint64_t oldest() {
    const std::lock_guard lock(mutex_);
    return alive_.empty() ? next_ : *alive_.begin();
  }
  /// Parts with lower numbers have ended on all ranks.
  void drop_before(std::uint64_t number) {
    std::map<std::uint64_t, std::shared_ptr<void>> dropped;
    const std::lock_guard lock(mutex_);
    while (!retired_.empty() && retired_.begin()->first < number) {
      dropped.insert(retired_.extract(retired_.begin()));
    }
  }

 private:
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> alive_;
  std::map<std::uint64_t, std::shared_ptr<void>> retired_;
};

}  // namespace sircl::detail
