// Which network functions may be two ends of one lane, judged by their addresses. Pure.
#pragma once

#include <span>
#include <vector>

#include "topology/function.hpp"

namespace sircl::topology {

/// All functions of one rank's host, in the order that it published them.
using Functions = std::vector<Function>;

/// Two functions of different ranks with addresses in one network; `first` is of the lower rank.
struct Candidate {
  FunctionId first;
  FunctionId second;
  Address first_address;
  Address second_address;
  bool operator==(const Candidate&) const = default;
};

/// Every pair that could be a lane, sorted; link-local addresses never make one. `by_rank`: the
/// functions of every rank. Where a network joins two functions by IPv4 and by IPv6, IPv4 is taken.
[[nodiscard]] std::vector<Candidate> candidates(std::span<const Functions> by_rank);

}  // namespace sircl::topology
