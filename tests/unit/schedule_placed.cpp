// Ranks in any order on the cables: every schedule is right, and exact sums do not notice.

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "schedule/checker.hpp"
#include "unit/schedule_support.hpp"

namespace sircl::schedule::test {
namespace {

std::vector<int> identity(int size) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// All orders of few ranks, some of many.
std::vector<std::vector<int>> orders(int size, std::mt19937& random) {
  std::vector<std::vector<int>> all;
  std::vector<int> order = identity(size);
  if (size <= 4) {
    do all.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return all;
  }
  for (int i = 0; i < 4; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    all.push_back(order);
  }
  return all;
}

/// Counts of all kinds, among them none; every block another one.
std::vector<std::uint64_t> awkward_counts(std::size_t blocks, std::mt19937& random) {
  constexpr std::uint64_t kSome[] = {0, 1, 63, 64, 65, 129, 1000, 4097};
  std::vector<std::uint64_t> counts(blocks);
  for (std::size_t i = 0; i < blocks; ++i) counts[i] = kSome[random() % 8] + i;
  if (blocks > 0 && random() % 4 == 0) counts[random() % blocks] = 0;
  return counts;
}

std::vector<Program> placed_programs(const Request& request, const std::vector<int>& order) {
  std::vector<Program> programs;
  for (int rank = 0; rank < request.size; ++rank) {
    auto program = build_placed(request, order, rank);
    REQUIRE(program.ok());
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace

TEST_CASE("every schedule is correct whichever ranks sit side by side") {
  std::mt19937 random(1);
  int checked = 0;
  for_each_kind([&](Collective collective, Algorithm algorithm, Wiring wiring) {
    for (int size = 2; size <= 8; ++size) {
      for (const auto& order : orders(size, random)) {
        Request request = request_of(collective, algorithm, wiring, size, 0,
                                     static_cast<int>(random() % static_cast<unsigned>(size)));
        if (!supports(request).ok()) continue;
        for (int i = 0; i < 3; ++i) {
          request.counts = awkward_counts(request.counts.size(), random);
          const Status status = check(request, order);
          INFO(name_of(request) << " order " << fmt::format("{}", fmt::join(order, "-")) << ": "
                                << status.message());
          REQUIRE(status.ok());
          ++checked;
        }
      }
    }
  });
  CHECK(checked > 5000);
}

TEST_CASE("the checker knows who sits beside whom") {
  const Request request =
      request_of(Collective::all_reduce, Algorithm::ring, Wiring::ring, 4, 1000);
  const std::vector<int> order = {0, 2, 1, 3};
  const auto programs = placed_programs(request, order);
  CHECK(check_programs(request, programs, order).ok());
  // Around the same ring from elsewhere, and the other way.
  CHECK(check_programs(request, programs, std::vector<int>{1, 3, 0, 2}).ok());
  CHECK(check_programs(request, programs, std::vector<int>{3, 1, 2, 0}).ok());
  const Status status = check_programs(request, programs);
  CHECK(status.message().find("to which there is no cable") != std::string::npos);
}

TEST_CASE("exact sums have the order of the ranks on any cabling") {
  std::mt19937 random(2);
  for (const Wiring wiring : {Wiring::ring, Wiring::path}) {
    for (int size = 2; size <= 8; ++size) {
      for (const auto& order : orders(size, random)) {
        const Request request =
            request_of(Collective::all_reduce, Algorithm::exchange, wiring, size, 100);
        // What the checker shows for every order is that operand r holds what rank r gave, so it
        // is enough that it is the one that was asked.
        REQUIRE(check(request, order).ok());
        for (int rank = 0; rank < size; ++rank) {
          const auto program = build_placed(request, order, rank);
          REQUIRE(program.ok());
          for (const Stream& stream : program->streams) {
            const Step& sum = stream.steps.back();
            REQUIRE(sum.operands.size() == static_cast<std::size_t>(size));
            const Operand& own = sum.operands[static_cast<std::size_t>(rank)];
            CHECK(own.from == kLocal);
            CHECK(own.range.buffer == Buffer::input);
          }
        }
      }
    }
  }
}

TEST_CASE("blocks and roots stay those of the ranks") {
  Request gathers = request_of(Collective::all_gather, Algorithm::ring, Wiring::ring, 3, 0);
  gathers.counts = {10, 20, 30};
  const std::vector<int> order = {2, 0, 1};
  const auto programs = placed_programs(gathers, order);
  for (int rank = 0; rank < 3; ++rank) {
    std::map<int, std::uint64_t> stored;
    for (const Stream& stream : programs[static_cast<std::size_t>(rank)].streams) {
      for (const Step& step : stream.steps) {
        if (step.store) stored[step.store->block] += step.count;
      }
    }
    CHECK(stored == std::map<int, std::uint64_t>{{0, 10}, {1, 20}, {2, 30}});
  }
  const Request tells = request_of(Collective::broadcast, Algorithm::path, Wiring::path, 3, 100, 1);
  const auto from_one = placed_programs(tells, order);
  CHECK(from_one[1].streams[0].steps[0].operands[0].from == kLocal);
  CHECK(from_one[1].streams[0].steps[0].send_to == std::vector<int>{0});
  CHECK(from_one[0].streams[0].steps[0].send_to == std::vector<int>{2});
}

TEST_CASE("what is no order of the ranks is refused") {
  const Request request = request_of(Collective::broadcast, Algorithm::ring, Wiring::ring, 3, 10);
  const auto why = [&](const std::vector<int>& order, int rank = 0) {
    const Status status = build_placed(request, order, rank).status();
    CHECK(status.code() == StatusCode::invalid_argument);
    return status.message();
  };
  CHECK(why({0, 1}).find("has 2 entries; it must name each of 3 ranks once") != std::string::npos);
  CHECK(why({0, 1, 3}).find("names rank 3") != std::string::npos);
  CHECK(why({0, -1, 2}).find("names rank -1") != std::string::npos);
  CHECK(why({0, 2, 2}).find("names rank 2 twice") != std::string::npos);
  CHECK(why({2, 0, 1}, 3).find("rank 3 is none of 3 ranks") != std::string::npos);
  CHECK(build_placed(request, {}, 1).ok());
  CHECK(check(request, std::vector<int>{0, 1}).code() == StatusCode::invalid_argument);
}

}  // namespace sircl::schedule::test
