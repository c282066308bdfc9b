// Who hears whom, as far as one rank knows, and when it may stop.
#include "probe/proof_state.hpp"

#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::probe;
using namespace sircl::topology;

namespace {

Address address(std::uint8_t network, std::uint8_t host) {
  return {AddressFamily::v4, {10, 0, network, host}, 24};
}

Function function(const Address& own) {
  Function result;
  result.addresses = {own};
  result.up = true;
  return result;
}

/// Two ranks with two functions each, cabled straight.
struct Pair {
  std::vector<Functions> by_rank{{function(address(0, 1)), function(address(1, 1))},
                                 {function(address(0, 2)), function(address(1, 2))}};
  std::vector<Candidate> candidates{{{0, 0}, {1, 0}, address(0, 1), address(0, 2)},
                                    {{0, 1}, {1, 1}, address(1, 1), address(1, 2)}};
  ProofState zero{0, by_rank, candidates};
  ProofState one{1, by_rank, candidates};

  /// From rank 1 to rank 0 over cable `at`, as rank 1 is now.
  const ProofState::Pair* to_zero(std::size_t at) {
    const auto number = static_cast<std::uint8_t>(at);
    return zero.hear(one.message_for(one.pairs()[at]), number, address(number, 1),
                     address(number, 2));
  }
  const ProofState::Pair* to_one(std::size_t at) {
    const auto number = static_cast<std::uint8_t>(at);
    return one.hear(zero.message_for(zero.pairs()[at]), number, address(number, 2),
                    address(number, 1));
  }
};

}  // namespace

TEST_CASE("both ends know of each other after three messages, and one more is not answered") {
  Pair pair;
  for (const std::size_t at : {0U, 1U}) {
    CHECK(pair.to_zero(at) != nullptr);  // zero hears one
    CHECK_FALSE(pair.zero.all_known());
    CHECK(pair.to_one(at) != nullptr);   // one knows
    CHECK(pair.to_zero(at) != nullptr);  // zero knows, and knows that one knows
    CHECK(pair.zero.pairs()[at].far_known);
    CHECK_FALSE(pair.one.pairs()[at].far_known);
    CHECK(pair.to_one(at) == nullptr);
    CHECK(pair.one.pairs()[at].far_known);
  }
  CHECK(pair.zero.all_known_by_far());
  CHECK(pair.one.all_known_by_far());
  CHECK(pair.zero.heard() == std::vector<Heard>{{{0, 0}, {1, 0}, true}, {{0, 1}, {1, 1}, true}});
}

TEST_CASE("a direction that does not work keeps a pair from being known") {
  Pair pair;
  for (int count = 0; count < 3; ++count) {
    CHECK(pair.to_zero(0) != nullptr);
    CHECK(pair.to_zero(1) != nullptr);
  }
  CHECK_FALSE(pair.zero.all_known());
  CHECK_FALSE(pair.one.all_known());
  CHECK(pair.zero.heard().size() == 2);
  CHECK(pair.one.heard().empty());
}

TEST_CASE("only the exact pair of functions and addresses counts") {
  Pair pair;
  const ProofMessage good = pair.one.message_for(pair.one.pairs()[0]);
  const auto refuses = [&](const ProofMessage& message, int by, const Address& to,
                           const Address& from) {
    return pair.zero.hear(message, by, to, from) == nullptr && pair.zero.heard().empty();
  };
  CHECK(refuses(good, 1, address(0, 1), address(0, 2)));  // by another function
  CHECK(refuses(good, 0, address(1, 1), address(0, 2)));
  CHECK(refuses(good, 0, address(0, 1), address(1, 2)));
  ProofMessage bad = good;
  bad.candidate = 1;
  CHECK(refuses(bad, 0, address(0, 1), address(0, 2)));
  bad.candidate = 4'000'000'000;
  CHECK(refuses(bad, 0, address(0, 1), address(0, 2)));
  bad = good;
  bad.from.index = 1;
  CHECK(refuses(bad, 0, address(0, 1), address(0, 2)));
  bad = good;
  bad.to.rank = 1;
  CHECK(refuses(bad, 0, address(0, 1), address(0, 2)));
  bad = good;
  bad.addressed = false;
  CHECK(refuses(bad, 0, address(0, 1), address(0, 2)));
  CHECK(pair.zero.hear(good, 0, address(0, 1), address(0, 2)) != nullptr);
}

TEST_CASE("what everybody on a link hears names a function that there is, and no own one") {
  Pair pair;
  ProofMessage message = pair.one.message_to_all(1);
  CHECK(pair.zero.hear_on_link(message, 0));
  CHECK_FALSE(pair.zero.hear_on_link(message, 0));  // nothing new
  CHECK(pair.zero.heard() == std::vector<Heard>{{{0, 0}, {1, 1}, false}});
  for (const FunctionId& from : {FunctionId{0, 1}, FunctionId{2, 0}, FunctionId{-1, 0},
                                 FunctionId{1, 2}, FunctionId{1, -1}}) {
    message.from = from;
    CHECK_FALSE(pair.zero.hear_on_link(message, 0));
  }
  CHECK(pair.zero.heard().size() == 1);
}

TEST_CASE("a function that is down is not waited for, one that is up and silent is lonely") {
  Pair pair;
  pair.by_rank[1][1].up = false;
  ProofState zero(0, pair.by_rank, pair.candidates);
  CHECK_FALSE(zero.all_known_by_far());
  const ProofMessage last{{1, 0}, true, 0, {0, 0}, true, true};
  CHECK(zero.hear(last, 0, address(0, 1), address(0, 2)) != nullptr);
  CHECK(zero.all_known_by_far());
  CHECK_FALSE(zero.nobody_lonely());
  CHECK(zero.hear_on_link(pair.one.message_to_all(1), 1));
  CHECK(zero.nobody_lonely());
}
