// Bytes per cable and round as the documents state them, and the choice that follows.

#include "schedule/cost.hpp"

#include "unit/schedule_support.hpp"

namespace sircl::schedule::test {
namespace {

Load load_of(Collective collective, Algorithm algorithm, Wiring wiring, int size,
             std::uint64_t count) {
  return measure(programs_of(request_of(collective, algorithm, wiring, size, count)));
}

}  // namespace

TEST_CASE("all_reduce puts exactly its bound on every direction of every cable") {
  for (int size = 2; size <= 8; ++size) {
    const auto n = static_cast<std::uint64_t>(size);
    const std::uint64_t count = 64 * 2 * 840 * 2;  // divisible by every size into aligned slices
    const std::uint64_t ways = size == 2 ? 2 : 1;
    const Load ring = load_of(Collective::all_reduce, Algorithm::ring, Wiring::ring, size, count);
    CHECK(ring.directions.size() == (size == 2 ? 2 : 2 * n));
    for (const DirectionLoad& direction : ring.directions) {
      CHECK(direction.elements == ways * count * (n - 1) / n);
      for (const std::uint64_t elements : direction.elements_by_round) {
        CHECK(elements == ways * count / (2 * n));
      }
    }
    CHECK(ring.rounds == 2 * (size - 1));

    const Load exchange =
        load_of(Collective::all_reduce, Algorithm::exchange, Wiring::ring, size, count);
    for (const DirectionLoad& direction : exchange.directions) {
      CHECK(direction.elements == ways * count * (n - 1) / 2);
    }
    CHECK(exchange.rounds == size / 2);

    const Load path = load_of(Collective::all_reduce, Algorithm::path, Wiring::path, size, count);
    CHECK(path.directions.size() == 2 * (n - 1));
    for (const DirectionLoad& direction : path.directions) CHECK(direction.elements == count);
  }
}

TEST_CASE("the doubling algorithms fill all four cables alike") {
  const std::uint64_t count = 64 * 8;
  const Load doubling =
      load_of(Collective::all_reduce, Algorithm::recursive_doubling, Wiring::ring, 4, count);
  CHECK(doubling.directions.size() == 8);
  CHECK(doubling.rounds == 2);
  for (const DirectionLoad& direction : doubling.directions) {
    CHECK(direction.elements == count);
    CHECK(direction.elements_by_round == std::vector<std::uint64_t>{count / 2, count / 2});
  }
  const Load halving =
      load_of(Collective::all_reduce, Algorithm::halving_doubling, Wiring::ring, 4, count);
  CHECK(halving.directions.size() == 8);
  CHECK(halving.rounds == 4);
  for (const DirectionLoad& direction : halving.directions) {
    CHECK(direction.elements == count * 3 / 4);
  }
  CHECK(halving.max_elements() == count * 3 / 4);
  CHECK(halving.max_elements_in_a_round() == count / 4);
  CHECK(halving.bytes(0, 1, 2) == count * 3 / 4 * 2);
  CHECK(halving.bytes(0, 2, 2) == 0);
}

TEST_CASE("all_gather and reduce_scatter put (N-1)/2 blocks on every direction") {
  for (int size = 3; size <= 8; ++size) {
    const auto n = static_cast<std::uint64_t>(size);
    for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter}) {
      const Load load = load_of(collective, Algorithm::ring, Wiring::ring, size, 1280);
      for (const DirectionLoad& direction : load.directions) {
        CHECK(direction.elements == 1280 * (n - 1) / 2);
      }
      CHECK(load.rounds == (collective == Collective::all_gather ? size / 2 : size - 1));
    }
    const Load broadcast =
        load_of(Collective::broadcast, Algorithm::ring, Wiring::ring, size, 1280);
    CHECK(broadcast.max_elements() == 640);
  }
}

TEST_CASE("the prediction adds rounds, bytes and additions") {
  const Request ring = request_of(Collective::all_reduce, Algorithm::ring, Wiring::ring, 4, 4096);
  CHECK(*predict(ring, 2, {1, 0, 0}) == Approx(6));
  CHECK(*predict(ring, 2, {0, 1, 0}) == Approx(4096 * 2 * 3 / 4));
  CHECK(*predict(ring, 2, {0, 0, 1}) == Approx(4096 * 2 * 3 / 4));
  const Request mesh =
      request_of(Collective::all_reduce, Algorithm::exchange, Wiring::mesh, 4, 100);
  CHECK(*predict(mesh, 4, {10, 1, 0}) == Approx(10 + 3 * 400));
  const Request none = request_of(Collective::scatter, Algorithm::ring, Wiring::ring, 4, 1);
  CHECK(predict(none, 4, {1, 1, 1}).status().code() == StatusCode::unsupported);
}

TEST_CASE("short messages count rounds, long ones count bytes") {
  const Parameters cable{2.0, 1.0 / 25e3, 1.0 / 50e3};  // 2 us, 25 GB/s per direction, 50 GB/s
  const auto ring = [&](std::uint64_t bytes) {
    return *choose(Collective::all_reduce, Wiring::ring, 4, bytes, cable);
  };
  CHECK(ring(4096) == Algorithm::recursive_doubling);
  CHECK(ring(16 << 20) == Algorithm::halving_doubling);
  CHECK(*choose(Collective::all_reduce, Wiring::ring, 5, 16 << 20, cable) == Algorithm::ring);
  CHECK(*choose(Collective::all_reduce, Wiring::ring, 5, 1024, cable) == Algorithm::exchange);
  CHECK(*choose(Collective::all_reduce, Wiring::path, 4, 16 << 20, cable) == Algorithm::path);
  CHECK(*choose(Collective::all_reduce, Wiring::mesh, 4, 1024, cable) == Algorithm::exchange);
  CHECK(*choose(Collective::all_reduce, Wiring::mesh, 4, 16 << 20, cable) == Algorithm::direct);

  const Algorithm only[] = {Algorithm::ring};
  CHECK(*choose(Collective::all_reduce, Wiring::ring, 4, 64, cable, only) == Algorithm::ring);
  const auto refused = choose(Collective::all_to_all, Wiring::ring, 4, 64, cable);
  CHECK(refused.status().code() == StatusCode::unsupported);
  CHECK(choose(Collective::all_gather, Wiring::mesh, 2000000000, 64, cable).status().code() ==
        StatusCode::invalid_argument);
  const Algorithm doubling[] = {Algorithm::recursive_doubling};
  CHECK_FALSE(choose(Collective::all_reduce, Wiring::ring, 5, 64, cable, doubling).ok());
}

}  // namespace sircl::schedule::test
