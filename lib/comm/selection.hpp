// Which algorithm carries an operation.
#pragma once

#include <cstddef>
#include <optional>

#include "exec/operation.hpp"

namespace sircl::detail {

struct SelectionRules {
  int ranks = 1;
  bool shared_memory = false;
  bool one_host = false;
  std::optional<schedule::Algorithm> forced;  ///< SIRCL_ALGORITHM
  std::size_t oneshot_max_bytes = 0;          ///< 0: the default of the transport
};

struct Choice {
  schedule::Algorithm algorithm = schedule::Algorithm::direct;
  bool on_board = false;
};

class Selection {
 public:
  explicit Selection(const SelectionRules& rules);
  /// The same on every rank for matching operations. `bytes`: of one block.
  [[nodiscard]] Choice choose(schedule::Collective collective, std::size_t bytes) const noexcept;
  /// Slices of an all-reduce below which fewer ranks share the work.
  [[nodiscard]] std::size_t min_slice_bytes() const noexcept;

 private:
  SelectionRules rules_;
  bool forced_for_[schedule::kCollectiveCount] = {};
};

}  // namespace sircl::detail
