// Four ranks, two rounds: everybody adds with its first partner, then with its second.

#include "schedule/builders.hpp"
#include "schedule/pairing.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

void append_half(int rank, const Slice& part, const Pairing& pair, StreamBuilder& stream) {
  const auto ordered = [&](int from, const Range& own, bool own_first) {
    std::vector<Operand> operands{local(own), received(from)};
    if (!own_first) std::swap(operands[0], operands[1]);
    return operands;
  };
  stream.move(0, part.count, local(input(part)), std::nullopt, {pair.first});
  stream.combine(1, part.count, ordered(pair.first, input(part), rank < pair.first), output(part),
                 {pair.second}, false);
  // Both sides must add in the same order. The sum that contains rank 0 goes first; "the lower
  // rank's sum first" would differ between the two pairs.
  const bool has_rank_zero = rank == 0 || pair.first == 0;
  stream.combine(2, part.count, ordered(pair.second, output(part), has_rank_zero), output(part), {},
                 true);
}

}  // namespace

Program build_recursive_doubling(const Request& request, int rank) {
  StreamBuilder low;
  StreamBuilder high;
  append_half(rank, low_half(request.counts[0]), pairing_of_four(rank, true), low);
  append_half(rank, high_half(request.counts[0]), pairing_of_four(rank, false), high);
  return finish_program({&low, &high}, 2);
}

}  // namespace sircl::schedule
