// Four ranks: reduce-scatter with the first partner, then with the second, then the way back.
// Every rank ends the way in with one quarter of a half, and sends it to both partners at once.

#include "schedule/builders.hpp"
#include "schedule/pairing.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

/// The quarter that `rank` completes. Partners of the second meeting share a half of the range.
int quarter_of(int rank, bool is_low) {
  const Pairing pair = pairing_of_four(rank, is_low);
  const bool lower_half = rank == 0 || pair.second == 0;
  const bool lower_quarter = rank < pair.second;
  return (lower_half ? 0 : 2) + (lower_quarter ? 0 : 1);
}

void append_half(int rank, const Slice& part, bool is_low, StreamBuilder& stream) {
  const Pairing pair = pairing_of_four(rank, is_low);
  const int second_of_first = pairing_of_four(pair.first, is_low).second;
  const auto quarter = [&](int owner) { return slice(part, 4, quarter_of(owner, is_low)); };
  const auto with_first = [&](const Slice& range) {
    std::vector<Operand> operands{local(input(range)), received(pair.first)};
    if (pair.first < rank) std::swap(operands[0], operands[1]);
    return operands;
  };
  const Slice mine = quarter(rank);
  const Slice seconds = quarter(pair.second);
  const Slice firsts = quarter(pair.first);
  const Slice opposite = quarter(second_of_first);

  // The first partner gets its half in two messages: what it passes on, then what it keeps.
  stream.move(0, opposite.count, local(input(opposite)), std::nullopt, {pair.first});
  stream.move(0, firsts.count, local(input(firsts)), std::nullopt, {pair.first});
  stream.combine(1, seconds.count, with_first(seconds), std::nullopt, {pair.second}, false);
  std::vector<Operand> operands = with_first(mine);
  operands.push_back(received(pair.second));
  stream.combine(2, mine.count, std::move(operands), output(mine), {pair.second, pair.first}, true);
  stream.move(3, seconds.count, received(pair.second), output(seconds), {pair.first}, true);
  stream.move(3, firsts.count, received(pair.first), output(firsts), {}, true);
  stream.move(4, opposite.count, received(pair.first), output(opposite), {}, true);
}

}  // namespace

Program build_halving_doubling(const Request& request, int rank) {
  StreamBuilder low;
  StreamBuilder high;
  append_half(rank, low_half(request.counts[0]), true, low);
  append_half(rank, high_half(request.counts[0]), false, high);
  return finish_program({&low, &high}, 4);
}

}  // namespace sircl::schedule
