// Every schedule that exists passes the checker; what does not exist is refused with a reason.

#include <algorithm>
#include <set>

#include "schedule/checker.hpp"
#include "unit/schedule_support.hpp"

namespace sircl::schedule::test {
namespace {

void require_checked(const Request& request) {
  const Status status = check(request);
  if (status.ok()) return;
  INFO(name_of(request));
  INFO(status.to_string());
  REQUIRE(status.ok());
}

bool rooted(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::reduce ||
         collective == Collective::gather || collective == Collective::scatter;
}

std::vector<int> roots(Collective collective, int size) {
  if (!rooted(collective)) return {0};
  std::set<int> some = {0, size / 2, size - 1};
  return {some.begin(), some.end()};
}

}  // namespace

TEST_CASE("every schedule is correct for 1 to 16 ranks and awkward counts") {
  int checked = 0;
  for_each_kind([&](Collective collective, Algorithm algorithm, Wiring wiring) {
    for (int size = 1; size <= 16; ++size) {
      const auto n = static_cast<std::uint64_t>(size);
      std::set<std::uint64_t> counts = {0, 1, n - 1, n, n + 1, 63, 64, 65, 1000, 4097};
      for (const std::uint64_t count : counts) {
        for (const int root : roots(collective, size)) {
          const Request request = request_of(collective, algorithm, wiring, size, count, root);
          if (!supports(request).ok()) continue;
          require_checked(request);
          ++checked;
        }
      }
    }
  });
  CHECK(checked > 5000);
}

TEST_CASE("fewer ranks share the sum of a short block where slices have a least size") {
  for (int size = 2; size <= 16; ++size) {
    for (const std::uint64_t count : {0, 1, 63, 100, 199, 200, 201, 1000, 5000}) {
      Request request =
          request_of(Collective::all_reduce, Algorithm::direct, Wiring::mesh, size, count);
      request.min_slice = 100;
      require_checked(request);
      std::uint64_t owners = 0;
      for (const Program& program : programs_of(request)) {
        for (const Stream& stream : program.streams) {
          for (const Step& step : stream.steps) owners += step.operands.size() > 1 ? 1 : 0;
        }
      }
      const auto most = std::min<std::uint64_t>(static_cast<std::uint64_t>(size),
                                                std::max<std::uint64_t>(1, count / 100));
      CHECK(owners <= most);
      CHECK((owners > 0) == (count > 0));
    }
  }
}

TEST_CASE("blocks of unequal size, some empty") {
  for_each_kind([&](Collective collective, Algorithm algorithm, Wiring wiring) {
    for (int size = 1; size <= 9; ++size) {
      for (std::uint64_t pattern = 0; pattern < 4; ++pattern) {
        Request request = request_of(collective, algorithm, wiring, size, 0, size - 1);
        if (request.counts.size() < 2 || !supports(request).ok()) continue;
        for (std::size_t block = 0; block < request.counts.size(); ++block) {
          const std::uint64_t counts[4] = {block * 37 % 5 * 61, block % 2 * 4097, block * block,
                                           block == 0 ? 1000U : 0U};
          request.counts[block] = counts[pattern];
        }
        require_checked(request);
      }
    }
  });
}

TEST_CASE("64 ranks and very long vectors") {
  for_each_kind([&](Collective collective, Algorithm algorithm, Wiring wiring) {
    const Request many = request_of(collective, algorithm, wiring, 64, 10007, 21);
    if (supports(many).ok()) require_checked(many);
    const Request huge =
        request_of(collective, algorithm, wiring, 4, (std::uint64_t{1} << 40) + 3, 1);
    if (supports(huge).ok()) require_checked(huge);
  });
}

TEST_CASE("the algorithms that the matrix promises exist") {
  const auto exists = [](Collective collective, Algorithm algorithm, Wiring wiring, int size) {
    return supports(request_of(collective, algorithm, wiring, size, 100)).ok();
  };
  for (int c = 0; c < kCollectiveCount; ++c) {
    CHECK(exists(static_cast<Collective>(c), Algorithm::direct, Wiring::mesh, 5));
    CHECK_FALSE(exists(static_cast<Collective>(c), Algorithm::direct, Wiring::ring, 4));
    CHECK_FALSE(exists(static_cast<Collective>(c), Algorithm::direct, Wiring::path, 3));
  }
  for (const Collective collective :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
        Collective::broadcast, Collective::reduce, Collective::barrier}) {
    for (int size = 2; size <= 8; ++size) {
      CHECK(exists(collective, Algorithm::ring, Wiring::mesh, size));
      CHECK(exists(collective, Algorithm::ring, Wiring::ring, size));
      CHECK(exists(collective, Algorithm::path, Wiring::path, size));
      CHECK(exists(collective, Algorithm::path, Wiring::ring, size));
      CHECK(exists(collective, Algorithm::path, Wiring::mesh, size));
    }
    CHECK_FALSE(exists(collective, Algorithm::ring, Wiring::path, 3));
  }
  for (const Wiring wiring : {Wiring::mesh, Wiring::ring, Wiring::path}) {
    CHECK(exists(Collective::all_reduce, Algorithm::exchange, wiring, 6));
    for (const Algorithm algorithm : {Algorithm::recursive_doubling, Algorithm::halving_doubling}) {
      CHECK(exists(Collective::all_reduce, algorithm, wiring, 4) == (wiring != Wiring::path));
      CHECK_FALSE(exists(Collective::all_reduce, algorithm, wiring, 8));
    }
  }
  CHECK_FALSE(exists(Collective::all_to_all, Algorithm::ring, Wiring::ring, 4));
}

TEST_CASE("requests that make no sense are refused") {
  Request request = request_of(Collective::broadcast, Algorithm::direct, Wiring::mesh, 4, 10);
  request.root = 4;
  CHECK(supports(request).code() == StatusCode::invalid_argument);
  request.root = 0;
  request.counts.push_back(1);
  CHECK(supports(request).code() == StatusCode::invalid_argument);
  request.counts.pop_back();
  CHECK(build(request, 4).status().code() == StatusCode::invalid_argument);
  CHECK(build(request, -1).status().code() == StatusCode::invalid_argument);
  request.size = 0;
  CHECK(supports(request).code() == StatusCode::invalid_argument);
  request.size = 4;
  request.algorithm = Algorithm::exchange;
  const Status status = supports(request);
  CHECK(status.code() == StatusCode::unsupported);
  CHECK(status.message().find("exchange exists for all_reduce only") != std::string::npos);
}

TEST_CASE("schedules on a mesh of boards have one stream and the promised rounds") {
  for (int size = 2; size <= 8; ++size) {
    const auto exchange = programs_of(
        request_of(Collective::all_reduce, Algorithm::exchange, Wiring::mesh, size, 1000));
    const auto direct = programs_of(
        request_of(Collective::all_reduce, Algorithm::direct, Wiring::mesh, size, 1000));
    for (const Program& program : exchange) {
      CHECK(program.streams.size() == 1);
      CHECK(program.rounds == 1);
    }
    for (const Program& program : direct) {
      CHECK(program.streams.size() == 1);
      CHECK(program.rounds == 2);
    }
  }
}

TEST_CASE("slices cover the whole and begin at multiples of 64") {
  for (const std::uint64_t count : {0U, 1U, 64U, 100U, 256U, 1000U, 4097U}) {
    for (int parts = 1; parts <= 9; ++parts) {
      std::uint64_t next = 0;
      for (int index = 0; index < parts; ++index) {
        const Slice part = slice({0, count}, parts, index);
        CHECK(part.offset == next);
        if (part.count != 0) CHECK(part.offset % kSliceElements == 0);
        next = part.offset + part.count;
      }
      CHECK(next == count);
    }
    CHECK(low_half(count).count + high_half(count).count == count);
    CHECK(high_half(count).offset == low_half(count).count);
  }
}

TEST_CASE("names go there and back") {
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    CHECK(parse_collective(to_string(collective)) == collective);
  }
  for (int a = 0; a < kAlgorithmCount; ++a) {
    const auto algorithm = static_cast<Algorithm>(a);
    CHECK(parse_algorithm(to_string(algorithm)) == algorithm);
  }
  CHECK_FALSE(parse_algorithm("tree").has_value());
  CHECK_FALSE(parse_collective("").has_value());
}

}  // namespace sircl::schedule::test
