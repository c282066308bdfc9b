// Ranks as threads that prove to each other over addresses of the loopback interface.
#include "probe/prove.hpp"

#include <chrono>
#include <thread>

#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::probe;
using namespace sircl::topology;
using namespace std::chrono_literals;

namespace {

constexpr auto kLimit = 20s;  // nothing here waits so long unless it is broken

Address address(int cable, int end) {
  return {AddressFamily::v4,
          {127, 0, static_cast<std::uint8_t>(cable + 1), static_cast<std::uint8_t>(end + 1)},
          24};
}

Function function(const Address& own, const char* interface = "lo") {
  Function result;
  result.interface = interface;
  result.addresses = {own};
  result.up = true;
  return result;
}

/// A ring: function 0 of rank r is joined with function 1 of the next.
struct Ring {
  explicit Ring(int size) {
    for (int rank = 0; rank < size; ++rank) {
      by_rank.push_back(
          {function(address(rank, 0)), function(address((rank + size - 1) % size, 1))});
      const int next = (rank + 1) % size;
      if (next > rank) {
        candidates.push_back({{rank, 0}, {next, 1}, address(rank, 0), address(rank, 1)});
      } else {
        candidates.push_back({{next, 1}, {rank, 0}, address(rank, 1), address(rank, 0)});
      }
    }
    options.resize(by_rank.size());
    for (int rank = 0; rank < size; ++rank) {
      at(rank).rank = rank;
      at(rank).limit = kLimit;
    }
  }
  ProveOptions& at(int rank) { return options[static_cast<std::size_t>(rank)]; }

  /// By rank what it heard.
  std::vector<std::vector<Heard>> run() {
    std::vector<std::unique_ptr<Prover>> provers;
    std::vector<std::string> addresses;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      auto prover = Prover::open(options[rank], by_rank[rank]);
      REQUIRE(prover.ok());
      addresses.push_back((*prover)->address());
      provers.push_back(*std::move(prover));
    }
    std::vector<std::vector<Heard>> heard(by_rank.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      threads.emplace_back(
          [&, rank] { heard[rank] = provers[rank]->run(by_rank, candidates, addresses); });
    }
    for (auto& thread : threads) thread.join();
    return heard;
  }

  std::vector<Functions> by_rank;
  std::vector<Candidate> candidates;
  std::vector<ProveOptions> options;
};

}  // namespace

TEST_CASE("ranks of a ring prove both of their cables and end before the limit") {
  Ring ring(4);
  const auto start = std::chrono::steady_clock::now();
  const auto heard = ring.run();
  CHECK(std::chrono::steady_clock::now() - start < kLimit);
  for (int rank = 0; rank < 4; ++rank) {
    const int east = (rank + 1) % 4;
    const int west = (rank + 3) % 4;
    CHECK(heard[static_cast<std::size_t>(rank)] ==
          std::vector<Heard>{{{rank, 0}, {east, 1}, true}, {{rank, 1}, {west, 0}, true}});
  }
}

TEST_CASE("an interface that is gone and an address that is not there are silence") {
  Ring ring(3);
  ring.by_rank[1][0].interface = "gone0";
  ring.by_rank[2][0].addresses[0] =
      ring.candidates[2].second_address = {AddressFamily::v4, {192, 0, 2, 1}, 24};
  for (auto& options : ring.options) options.limit = 200ms;
  const auto heard = ring.run();
  CHECK(heard[0] == std::vector<Heard>{{{0, 0}, {1, 1}, true}});
  CHECK(heard[1] == std::vector<Heard>{{{1, 1}, {0, 0}, true}});
  CHECK(heard[2].empty());
}

TEST_CASE("a function whose link is down is not waited for") {
  Ring ring(3);
  ring.by_rank[1][0].interface = "gone0";
  ring.by_rank[1][0].up = false;
  ring.by_rank[2][1].up = false;
  const auto start = std::chrono::steady_clock::now();
  CHECK(ring.run()[2] == std::vector<Heard>{{{2, 0}, {0, 1}, true}});
  CHECK(std::chrono::steady_clock::now() - start < kLimit);
}

TEST_CASE("a rank of another group is not heard") {
  Ring ring(3);
  ring.at(2).key.fill(std::byte{9});
  for (auto& options : ring.options) options.limit = 200ms;
  const auto heard = ring.run();
  CHECK(heard[0] == std::vector<Heard>{{{0, 0}, {1, 1}, true}});
  CHECK(heard[2].empty());
}

TEST_CASE("addresses that make no sense are not sent to") {
  Ring ring(3);
  ring.at(0).limit = 50ms;
  auto prover = Prover::open(ring.at(0), ring.by_rank[0]);
  REQUIRE(prover.ok());
  const std::vector<std::string> addresses{"1;2;3", "", "99999;x"};
  CHECK((*prover)->run(ring.by_rank, ring.candidates, addresses).empty());
}

TEST_CASE("a proof that is cancelled ends") {
  Ring ring(3);
  int asked = 0;
  ring.at(0).cancelled = [&] { return ++asked > 2; };
  auto prover = Prover::open(ring.at(0), ring.by_rank[0]);
  REQUIRE(prover.ok());
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> addresses(3);
  CHECK((*prover)->run(ring.by_rank, ring.candidates, addresses).empty());
  CHECK(asked == 3);
  CHECK(std::chrono::steady_clock::now() - start < kLimit);
}
