// What a rank accepts from the network while it proves its functions: messages that are signed, but
// by somebody who says anything, and bytes that are no messages.
#include "fuzz/input.hpp"
#include "probe/proof_ports.hpp"
#include "probe/proof_state.hpp"

using namespace sircl;
using namespace sircl::probe;
using namespace sircl::topology;
using fuzz::Input;
using fuzz::require;

namespace {

const Address kZero{AddressFamily::v4, {10, 0, 0, 1}, 24};
const Address kOne{AddressFamily::v4, {10, 0, 0, 2}, 24};

std::vector<Functions> two_ranks() {
  std::vector<Functions> by_rank(2, Functions(1));
  by_rank[0][0].addresses = {kZero};
  by_rank[1][0].addresses = {kOne};
  by_rank[0][0].up = by_rank[1][0].up = true;
  return by_rank;
}

FunctionId id(Input& input) {
  const int rank = static_cast<int>(input.near(1));
  return {rank, static_cast<int>(input.near(0))};
}

ProofMessage message(Input& input) {
  ProofMessage result;
  const std::uint8_t flags = input.byte();
  result.addressed = flags % 2 != 0;
  result.heard = flags / 2 % 2 != 0;
  result.known = flags / 4 % 2 != 0;
  result.candidate = static_cast<std::uint32_t>(input.near(0));
  result.from = id(input);
  result.to = {static_cast<int>(input.near(0)), static_cast<int>(input.near(0))};
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const ProofKey key{};
  const auto by_rank = two_ranks();
  const std::vector<Candidate> candidates{{{0, 0}, {1, 0}, kZero, kOne}};
  ProofState state(0, by_rank, candidates);
  while (!input.empty()) {
    const auto noise = input.take(input.byte());
    require(!decode(noise, key));
    (void)parse_ports({reinterpret_cast<const char*>(noise.data()), noise.size()}, by_rank[0]);
    const auto heard = decode(encode(message(input), key), key);
    if (!heard) continue;
    (void)state.hear(*heard, 0, kZero, kOne);
    (void)state.hear_on_link(*heard, 0);
    for (const Heard& one : state.heard()) require(one.from == FunctionId{1, 0});
  }
  return 0;
}
