// Which algorithm carries an operation.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "exec/operation.hpp"
#include "schedule/cost.hpp"

namespace sircl::detail {

struct SelectionRules {
  int ranks = 1;
  bool shared_memory = false;
  bool one_host = false;
  schedule::Wiring wiring = schedule::Wiring::mesh;  ///< ring and path: cables without a switch
  std::optional<schedule::Algorithm> forced;         ///< SIRCL_ALGORITHM
  std::size_t oneshot_max_bytes = 0;                 ///< 0: the default of the transport
  bool exact = false;          ///< sums are rounded once (SIRCL_NUMERICS=exact); on cables
  schedule::Parameters costs;  ///< of cables, as measured at start; the same on all ranks
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
  [[nodiscard]] bool exists(schedule::Collective collective, schedule::Algorithm algorithm) const;
  [[nodiscard]] Choice on_cables(schedule::Collective collective, std::size_t bytes) const noexcept;
  void predict_all_reduce();

  SelectionRules rules_;
  /// On cables: the fastest all-reduce of blocks of 2^(i-1) to 2^i - 1 bytes.
  std::array<schedule::Algorithm, 65> all_reduce_{};
  bool forced_for_[schedule::kCollectiveCount] = {};
};

}  // namespace sircl::detail
