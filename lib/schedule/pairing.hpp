// The two perfect matchings of a ring of four: {0-1, 2-3} and {1-2, 3-0}.
#pragma once

#include <algorithm>

namespace sircl::schedule {

/// The ranks that `rank` meets first and second. One half of the elements meets in one order, the
/// other half in the other, so that all four cables carry the same in every round.
struct Pairing {
  int first = 0;
  int second = 0;
};

inline Pairing pairing_of_four(int rank, bool low_half) {
  const int even = rank ^ 1;  // 0-1, 2-3
  const int odd = 3 - rank;   // 1-2, 3-0
  return low_half ? Pairing{even, odd} : Pairing{odd, even};
}

}  // namespace sircl::schedule
