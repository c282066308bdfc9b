#include <fmt/format.h>

#include "schedule/builders.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {

Program build_alone(const Request& request) {
  StreamBuilder only;
  if (request.collective != Collective::barrier) {
    const Slice all{0, request.counts.front()};
    if (reduces(request.collective)) {
      only.combine(0, all.count, {local(input(all))}, output(all), {}, true);
    } else {
      only.move(0, all.count, local(input(all)), output(all));
    }
  }
  return finish_program({&only}, 0);
}

Status has_rank(const Request& request, int rank) {
  if (rank >= 0 && rank < request.size) return {};
  return {StatusCode::invalid_argument,
          fmt::format("schedule: rank {} is none of {} ranks", rank, request.size)};
}

Result<Program> build(const Request& request, int rank) {
  if (Status status = supports(request); !status.ok()) return status;
  if (Status status = has_rank(request, rank); !status.ok()) return status;
  if (request.size == 1) return build_alone(request);
  if (request.collective == Collective::barrier) return build_barrier(request, rank);
  switch (request.algorithm) {
    case Algorithm::direct:
      return build_direct(request, rank);
    case Algorithm::exchange:
      return build_exchange(request, rank);
    case Algorithm::recursive_doubling:
      return build_recursive_doubling(request, rank);
    case Algorithm::halving_doubling:
      return build_halving_doubling(request, rank);
    case Algorithm::ring:
      return build_ring(request, rank);
    case Algorithm::path:
      return build_path(request, rank);
  }
  return {StatusCode::internal, "schedule: unreachable"};
}

}  // namespace sircl::schedule
