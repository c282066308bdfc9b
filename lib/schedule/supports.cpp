#include <fmt/format.h>

#include "schedule/schedule.hpp"
#include "schedule/steps.hpp"

namespace sircl::schedule {
namespace {

Status unsupported(const Request& request, std::string_view why) {
  return {StatusCode::unsupported,
          fmt::format("no schedule for {} with algorithm {}, {} ranks on a {}: {}",
                      to_string(request.collective), to_string(request.algorithm), request.size,
                      to_string(request.wiring), why)};
}

Status valid(const Request& request) {
  const auto invalid = [&](std::string text) {
    return Status(StatusCode::invalid_argument,
                  fmt::format("{}: {}", to_string(request.collective), std::move(text)));
  };
  if (static_cast<int>(request.collective) >= kCollectiveCount ||
      static_cast<int>(request.algorithm) >= kAlgorithmCount ||
      static_cast<int>(request.wiring) > static_cast<int>(Wiring::path)) {
    return invalid("collective, algorithm or wiring is not one of the enumeration");
  }
  if (request.size < 1 || request.size > kMaxRanks) {
    return invalid(fmt::format("{} ranks; 1 to {} are possible", request.size, kMaxRanks));
  }
  if (request.root < 0 || request.root >= request.size) {
    return invalid(fmt::format("root {} is none of {} ranks", request.root, request.size));
  }
  const std::size_t blocks =
      block_count(request.collective, static_cast<std::size_t>(request.size));
  if (request.counts.size() != blocks) {
    return invalid(fmt::format("{} counts for {} blocks", request.counts.size(), blocks));
  }
  return {};
}

bool every_pair_connected(const Request& request) {
  switch (request.wiring) {
    case Wiring::mesh:
      return true;
    case Wiring::ring:
      return request.size <= 3;
    case Wiring::path:
      return request.size <= 2;
  }
  return false;
}

/// Whether the collective can pass data on from neighbour to neighbour.
bool has_neighbour_form(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::barrier:
      return true;
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
      return false;
  }
  return false;
}

}  // namespace

Status supports(const Request& request) {
  if (Status status = valid(request); !status.ok()) return status;
  const bool ring_closed = request.wiring != Wiring::path || request.size <= 2;
  switch (request.algorithm) {
    case Algorithm::direct:
      if (!every_pair_connected(request)) {
        return unsupported(request, "direct needs a channel between every pair of ranks");
      }
      return {};
    case Algorithm::exchange:
      if (request.collective != Collective::all_reduce) {
        return unsupported(request, "exchange exists for all_reduce only");
      }
      return {};
    case Algorithm::recursive_doubling:
    case Algorithm::halving_doubling:
      if (request.collective != Collective::all_reduce) {
        return unsupported(request, "the doubling algorithms exist for all_reduce only");
      }
      if (request.size != 4) return unsupported(request, "it pairs exactly four ranks");
      if (!ring_closed) return unsupported(request, "it needs a cable between ranks 3 and 0");
      return {};
    case Algorithm::ring:
      if (!has_neighbour_form(request.collective)) {
        return unsupported(request, "it sends one message per pair: only direct, on a mesh");
      }
      if (!ring_closed) return unsupported(request, "the ring is open: use path");
      return {};
    case Algorithm::path:
      if (!has_neighbour_form(request.collective)) {
        return unsupported(request, "it sends one message per pair: only direct, on a mesh");
      }
      return {};
  }
  return {StatusCode::internal, "schedule: unreachable"};
}

}  // namespace sircl::schedule
