#include "schedule/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "schedule/load.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

double largest(const std::vector<std::uint64_t>& values) {
  return values.empty() ? 0 : static_cast<double>(*std::max_element(values.begin(), values.end()));
}

}  // namespace

Result<double> predict(const Request& request, std::size_t element_bytes,
                       const Parameters& parameters) {
  std::vector<Program> programs;
  for (int rank = 0; rank < request.size || rank == 0; ++rank) {
    auto program = build(request, rank);
    if (!program) return program.status();
    programs.push_back(*std::move(program));
  }
  const Load load = measure(programs);
  const double carried = request.wiring == Wiring::mesh ? largest(load.elements_sent)
                                                        : static_cast<double>(load.max_elements());
  const auto bytes = static_cast<double>(element_bytes);
  return load.rounds * parameters.alpha_us + carried * bytes * parameters.beta_us_per_byte +
         largest(load.elements_combined) * bytes * parameters.gamma_us_per_byte;
}

Result<Algorithm> choose(Collective collective, Wiring wiring, int size, std::uint64_t bytes,
                         const Parameters& parameters, std::span<const Algorithm> allowed) {
  // supports() would say so too, but only after an array of counts has been made.
  if (size < 1 || size > kMaxRanks) {
    return {StatusCode::invalid_argument,
            fmt::format("schedule: {} ranks; 1 to {} are possible", size, kMaxRanks)};
  }
  std::optional<Algorithm> best;
  double best_us = std::numeric_limits<double>::infinity();
  Status reason;
  for (int index = 0; index < kAlgorithmCount; ++index) {
    Request request;
    request.collective = collective;
    request.algorithm = static_cast<Algorithm>(index);
    request.wiring = wiring;
    request.size = size;
    const bool is_allowed = allowed.empty() || std::find(allowed.begin(), allowed.end(),
                                                         request.algorithm) != allowed.end();
    if (!is_allowed) continue;
    request.counts.assign(block_count(collective, static_cast<std::size_t>(size)), bytes);
    const auto predicted = predict(request, 1, parameters);
    if (!predicted) {
      if (reason.ok()) reason = predicted.status();
      continue;
    }
    if (!best || *predicted < best_us) {
      best = request.algorithm;
      best_us = *predicted;
    }
  }
  if (best) return *best;
  if (!reason.ok()) return reason;
  return {StatusCode::invalid_argument, "schedule: no algorithm is allowed"};
}

}  // namespace sircl::schedule
