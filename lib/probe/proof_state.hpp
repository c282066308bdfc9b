// What one rank knows so far of who hears whom, and whether it may stop. No sockets, no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "probe/proof_message.hpp"
#include "topology/candidates.hpp"
#include "topology/discovery.hpp"

namespace sircl::probe {

class ProofState {
 public:
  /// A candidate with a function of this rank in it.
  struct Pair {
    std::size_t candidate = 0;
    topology::FunctionId mine;
    topology::FunctionId far;
    topology::Address my_address;
    topology::Address far_address;
    bool expected = false;   ///< both ends are up
    bool heard = false;      ///< here
    bool known = false;      ///< the far end said that it has heard this one
    bool far_known = false;  ///< the far end said that it knows the same
  };

  ProofState(int rank, std::span<const topology::Functions> by_rank,
             std::span<const topology::Candidate> candidates);

  [[nodiscard]] const std::vector<Pair>& pairs() const noexcept { return pairs_; }
  [[nodiscard]] ProofMessage message_for(const Pair& pair) const noexcept;
  [[nodiscard]] ProofMessage message_to_all(int function) const noexcept;

  /// A message that came in over the own function `by`, from address to address. Returns the pair
  /// that should be answered at once: something is new to one of the ends.
  const Pair* hear(const ProofMessage& message, int by, const topology::Address& to,
                   const topology::Address& from);
  /// A message to everybody on the link of `by`; true: nothing was heard of its sender there
  /// before.
  bool hear_on_link(const ProofMessage& message, int by);

  [[nodiscard]] bool all_known_by_far() const noexcept;
  [[nodiscard]] bool all_known() const noexcept;
  /// Every own function that is up is proved, or has heard somebody.
  [[nodiscard]] bool nobody_lonely() const;
  [[nodiscard]] std::vector<topology::Heard> heard() const {
    return {heard_.begin(), heard_.end()};
  }

 private:
  [[nodiscard]] bool is_other_rank(const topology::FunctionId& id) const noexcept;

  int rank_;
  std::span<const topology::Functions> by_rank_;
  std::vector<Pair> pairs_;
  std::set<topology::Heard> heard_;
};

}  // namespace sircl::probe
