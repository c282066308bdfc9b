// Which algorithm carries what: equal on all ranks, possible for the group, and as told.
#include "comm/selection.hpp"

#include "support/catch.hpp"

using namespace sircl;
using detail::Choice;
using detail::Selection;
using detail::SelectionRules;
using schedule::Algorithm;
using schedule::Collective;

namespace {

bool possible(Collective collective, Algorithm algorithm, int ranks) {
  schedule::Request request;
  request.collective = collective;
  request.algorithm = algorithm;
  request.wiring = schedule::Wiring::mesh;
  request.size = ranks;
  request.counts.assign(schedule::block_count(collective, static_cast<std::size_t>(ranks)), 1000);
  return schedule::supports(request).ok();
}

template <typename Function>
void for_each_situation(const Function& function) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    for (const bool shared : {false, true}) {
      for (const bool one_host : {false, true}) {
        if (shared && !one_host) continue;
        SelectionRules rules;
        rules.ranks = ranks;
        rules.shared_memory = shared;
        rules.one_host = one_host;
        INFO(ranks << " ranks, shared memory " << shared << ", one host " << one_host);
        function(rules);
      }
    }
  }
}

constexpr std::size_t kSizes[] = {
    0, 1, 4096, 8192, 12288, 12289, 65536, 1 << 20, std::size_t{1} << 40};

}  // namespace

TEST_CASE("whatever is chosen exists for the group, and boards run only what they can") {
  for_each_situation([](SelectionRules rules) {
    for (int forced = -1; forced < schedule::kAlgorithmCount; ++forced) {
      rules.forced = std::nullopt;
      if (forced >= 0) rules.forced = static_cast<Algorithm>(forced);
      const Selection selection(rules);
      for (int c = 0; c < schedule::kCollectiveCount; ++c) {
        const auto collective = static_cast<Collective>(c);
        for (const std::size_t bytes : kSizes) {
          const Choice choice = selection.choose(collective, bytes);
          INFO(schedule::to_string(collective) << " of " << bytes << " bytes, forced " << forced);
          if (rules.ranks > 1) CHECK(possible(collective, choice.algorithm, rules.ranks));
          if (choice.on_board) {
            CHECK(rules.shared_memory);
            CHECK(
                (choice.algorithm == Algorithm::direct || choice.algorithm == Algorithm::exchange));
          }
        }
      }
    }
  });
}

TEST_CASE("a forced algorithm is taken where it exists, else the usual one") {
  for_each_situation([](SelectionRules rules) {
    const Selection usual(rules);
    for (int a = 0; a < schedule::kAlgorithmCount; ++a) {
      rules.forced = static_cast<Algorithm>(a);
      const Selection forced(rules);
      for (int c = 0; c < schedule::kCollectiveCount; ++c) {
        const auto collective = static_cast<Collective>(c);
        for (const std::size_t bytes : kSizes) {
          const Algorithm got = forced.choose(collective, bytes).algorithm;
          if (possible(collective, *rules.forced, rules.ranks)) {
            CHECK(got == *rules.forced);
          } else {
            CHECK(got == usual.choose(collective, bytes).algorithm);
          }
        }
      }
    }
  });
}

TEST_CASE("short all-reduces go by exchange up to the limit, which can be set to the byte") {
  for_each_situation([](SelectionRules rules) {
    rules.oneshot_max_bytes = 5000;
    const Selection selection(rules);
    CHECK(selection.choose(Collective::all_reduce, 5000).algorithm == Algorithm::exchange);
    CHECK(selection.choose(Collective::all_reduce, 5001).algorithm == Algorithm::direct);
    CHECK(selection.choose(Collective::all_gather, 5000).algorithm == Algorithm::direct);
  });
}

TEST_CASE("the larger the block, the later: no size goes back to exchange") {
  for_each_situation([](const SelectionRules& rules) {
    const Selection selection(rules);
    bool direct = false;
    for (std::size_t bytes = 0; bytes < (1 << 20); bytes += 64) {
      const bool exchange =
          selection.choose(Collective::all_reduce, bytes).algorithm == Algorithm::exchange;
      if (direct && exchange) FAIL(bytes << " bytes go by exchange again");
      direct = !exchange;
    }
    CHECK(direct);
  });
}

TEST_CASE(
    "on shared memory everything is on boards; blocks are summed by one rank only on loopback") {
  for_each_situation([](const SelectionRules& rules) {
    const Selection selection(rules);
    for (int c = 0; c < schedule::kCollectiveCount; ++c) {
      CHECK(selection.choose(static_cast<Collective>(c), 100).on_board == rules.shared_memory);
    }
    CHECK((selection.min_slice_bytes() > 0) == (rules.one_host && !rules.shared_memory));
  });
}
