// Which of the fabric's cables the group agreed on using, operation by operation.
//
// The group learns of a cut cable at some moment, but all ranks must choose their schedules by the
// same cables for the same operation. So each rank promises not to start operations from a certain
// number on before it has heard from which number on the new state counts (prepare); then that is
// said to all (commit).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/channel_executor.hpp"
#include "topology/layout.hpp"

namespace sircl::detail {

class FabricState {
 public:
  explicit FabricState(const topology::Layout& layout);

  // By the thread that hears of agreements.
  /// The first operation that will not start before commit().
  std::uint64_t prepare(const std::vector<bool>& up);
  void commit(const std::vector<bool>& up, std::uint64_t from);

  // By whoever runs operations.
  /// Whether this operation may start now; in the order of their numbers from 1. Once it may, it
  /// has started.
  [[nodiscard]] bool may_start(std::uint64_t sequence) noexcept;
  /// The order of the ranks on the cables from this operation on, if it changes with it.
  [[nodiscard]] std::optional<exec::Order> change_before(std::uint64_t sequence);
  /// The cables as they were heard of last, if that is news to a caller who has seen so many
  /// reports; `seen` grows. For relays, which need no agreement.
  [[nodiscard]] std::optional<std::vector<bool>> heard(std::uint64_t& seen);

  /// The order while these cables work. On a ring that lacks one cable: the path that is left.
  [[nodiscard]] exec::Order order(const std::vector<bool>& up) const;
  /// Who cannot reach whom while these cables are down; empty: everybody reaches everybody.
  [[nodiscard]] std::string partition(const std::vector<bool>& up) const;

 private:
  struct Change {
    std::vector<bool> up;
    std::uint64_t from = 0;
  };
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  static constexpr std::uint64_t kAhead = 16;  ///< operations that may start during an agreement

  topology::Layout layout_;
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> limit_{kNoLimit};
  std::atomic<bool> news_{false};        ///< changes_ is not empty
  std::atomic<std::uint64_t> heard_{0};  ///< reports so far; heard_up_ is the last one
  std::mutex mutex_;
  std::deque<Change> changes_;
  std::vector<bool> heard_up_;
};

}  // namespace sircl::detail
