// Requests for the schedule tests.
#pragma once

#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/load.hpp"
#include "schedule/schedule.hpp"
#include "schedule/steps.hpp"
#include "support/catch.hpp"

namespace sircl::schedule::test {

inline Request request_of(Collective collective, Algorithm algorithm, Wiring wiring, int size,
                          std::uint64_t count, int root = 0) {
  Request request;
  request.collective = collective;
  request.algorithm = algorithm;
  request.wiring = wiring;
  request.size = size;
  request.root = root;
  request.counts.assign(block_count(collective, static_cast<std::size_t>(size)), count);
  return request;
}

inline std::vector<Program> programs_of(const Request& request) {
  std::vector<Program> programs;
  for (int rank = 0; rank < request.size; ++rank) {
    auto program = build(request, rank);
    REQUIRE(program.ok());
    programs.push_back(*std::move(program));
  }
  return programs;
}

inline std::string name_of(const Request& request) {
  return fmt::format("{} {} {} size {} root {} counts {}", to_string(request.collective),
                     to_string(request.algorithm), to_string(request.wiring), request.size,
                     request.root, fmt::join(request.counts, " "));
}

template <typename Function>
void for_each_kind(const Function& function) {
  for (int c = 0; c < kCollectiveCount; ++c) {
    for (int a = 0; a < kAlgorithmCount; ++a) {
      for (const Wiring wiring : {Wiring::mesh, Wiring::ring, Wiring::path}) {
        function(static_cast<Collective>(c), static_cast<Algorithm>(a), wiring);
      }
    }
  }
}

}  // namespace sircl::schedule::test
