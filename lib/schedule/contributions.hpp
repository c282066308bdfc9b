// Symbolic values for the checker: which ranks' contributions a value holds, added in which order.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sircl::schedule {

/// Interns expressions like ((0 + 1) + local) so that equal ids mean: the same operations in the
/// same order, hence the same bits.
class Contributions {
 public:
  using Id = std::uint32_t;

  explicit Contributions(int ranks);

  /// The unchanged contribution of one rank.
  [[nodiscard]] Id leaf(int rank) const { return static_cast<Id>(rank); }
  /// The combination of values that share no contribution. With one value and no finish: that
  /// value.
  Id combine(std::span<const Id> values, bool finish);

  [[nodiscard]] bool overlap(std::span<const Id> values) const;
  [[nodiscard]] bool complete(Id id) const { return node(id).held == ranks_; }
  [[nodiscard]] bool finished(Id id) const { return node(id).finished; }
  /// Contributions that the value holds.
  [[nodiscard]] int held(Id id) const { return node(id).held; }
  /// Formed in one step, operands in rank order: one rounding.
  [[nodiscard]] bool rank_ordered_once(Id id) const { return node(id).rank_ordered_once; }
  /// "{0,1,3}" for messages.
  [[nodiscard]] std::string describe(Id id) const;

 private:
  struct Node {
    std::vector<std::uint64_t> members;  ///< bit set
    int held = 0;
    bool finished = false;
    bool rank_ordered_once = false;
  };
  [[nodiscard]] const Node& node(Id id) const { return nodes_[id]; }

  int ranks_;
  std::vector<Node> nodes_;
  std::map<std::vector<Id>, Id> known_;
};

}  // namespace sircl::schedule
