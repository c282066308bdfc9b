#include "report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <thread>

namespace sircl::bench {

double algorithm_bandwidth(const Row& row, const Figures& figures, int ranks) {
  if (figures.p50_us <= 0) return 0;
  return static_cast<double>(row.shape.whole_bytes(ranks)) / figures.p50_us / 1e3;
}

double bus_bandwidth(const Row& row, const Figures& figures, int ranks) {
  return algorithm_bandwidth(row, figures, ranks) * bus_factor(row.shape.collective, ranks);
}

std::optional<double> ratio(const Row& row, std::size_t peer) {
  const Figures& other = row.peers.at(peer);
  if (!row.ours || !row.ours->measured() || !other.measured()) return std::nullopt;
  return row.ours->p50_us / other.p50_us;
}

std::optional<double> best_ratio(const Report& report, const Row& row) {
  std::optional<double> best;
  for (std::size_t peer = 0; peer < row.peers.size(); ++peer) {
    if (report.peers[peer].name == "floor" || report.peers[peer].name == "copy") continue;
    if (const auto r = ratio(row, peer)) best = std::max(best.value_or(*r), *r);
  }
  return best;
}

std::string op_name(const Shape& shape) {
  return reduces(shape.collective) ? std::string(sircl::to_string(shape.op)) : "-";
}

std::string series_name(const Shape& shape) {
  std::string name(to_string(shape.collective));
  if (shape.collective == Collective::barrier) return name;
  name += fmt::format(" {}", sircl::to_string(shape.type));
  if (reduces(shape.collective)) name += fmt::format(" {}", op_name(shape));
  return name;
}

std::string describe_host() {
  utsname system{};
  uname(&system);
  std::string processor = system.machine;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      processor = line.substr(colon + 2);
      break;
    }
  }
  return fmt::format("{}, {}, {} cores, Linux {}", system.nodename, processor,
                     std::thread::hardware_concurrency(), system.release);
}

std::string describe_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace sircl::bench
