#include "request.hpp"

#include <algorithm>
#include <sstream>

namespace sircl::bench {
namespace {

/// Whether `count` is the share of one rank.
bool shared_out(Collective collective) {
  switch (collective) {
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
      return true;
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv:
    case Collective::barrier:
      return false;
  }
  return false;
}

}  // namespace

std::string_view to_string(Collective collective) {
  return kCollectiveNames[static_cast<std::size_t>(collective)];
}

std::optional<Collective> parse_collective(std::string_view name) {
  const auto found = std::find(kCollectiveNames.begin(), kCollectiveNames.end(), name);
  if (found == kCollectiveNames.end()) return std::nullopt;
  return static_cast<Collective>(found - kCollectiveNames.begin());
}

bool reduces(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter ||
         collective == Collective::reduce;
}

bool has_in_place(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::broadcast:
    case Collective::reduce:
      return true;
    case Collective::gather:
    case Collective::scatter:
    case Collective::all_to_all:
    case Collective::send_recv:
    case Collective::barrier:
      return false;
  }
  return false;
}

double bus_factor(Collective collective, int ranks) {
  const double share = static_cast<double>(ranks - 1) / ranks;
  if (collective == Collective::all_reduce) return 2 * share;
  return shared_out(collective) ? share : 1.0;
}

std::size_t Shape::count(int ranks) const {
  const std::size_t elements = bytes / size_of(type);
  return shared_out(collective) ? elements / static_cast<std::size_t>(ranks) : elements;
}

std::size_t Shape::whole_bytes(int ranks) const {
  return std::max(in_elements(ranks), out_elements(ranks)) * size_of(type);
}

std::size_t Shape::in_elements(int ranks) const {
  const bool all_blocks = collective == Collective::reduce_scatter ||
                          collective == Collective::scatter || collective == Collective::all_to_all;
  return count(ranks) * static_cast<std::size_t>(all_blocks ? ranks : 1);
}

std::size_t Shape::out_elements(int ranks) const {
  const bool all_blocks = collective == Collective::all_gather ||
                          collective == Collective::gather || collective == Collective::all_to_all;
  return count(ranks) * static_cast<std::size_t>(all_blocks ? ranks : 1);
}

std::string to_line(const Request& request) {
  std::ostringstream line;
  line << "run " << to_string(request.shape.collective) << ' ' << request.shape.bytes << ' '
       << static_cast<int>(request.shape.type) << ' ' << static_cast<int>(request.shape.op) << ' '
       << request.shape.in_place << ' ' << request.iterations << ' ' << request.warmup << ' '
       << request.check << '\n';
  return line.str();
}

std::optional<Request> parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string collective;
  int type = 0;
  int op = 0;
  Request request;
  words >> verb >> collective >> request.shape.bytes >> type >> op >> request.shape.in_place >>
      request.iterations >> request.warmup >> request.check;
  const auto known = parse_collective(collective);
  if (!words || verb != "run" || !known || type < 0 || type >= kDataTypeCount || op < 0 ||
      op >= kReduceOpCount || request.iterations < 1 || request.warmup < 0) {
    return std::nullopt;
  }
  request.shape.collective = *known;
  request.shape.type = static_cast<DataType>(type);
  request.shape.op = static_cast<ReduceOp>(op);
  return request;
}

}  // namespace sircl::bench
