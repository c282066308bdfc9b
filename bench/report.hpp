// Everything that one run of the bench found out; the outputs are made from it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures.hpp"
#include "request.hpp"

namespace sircl::bench {

struct PeerInfo {
  std::string name;
  std::string given;  ///< what it was started with
};

struct Row {
  Shape shape;
  std::string algorithm;
  std::optional<Figures> ours;  ///< nothing with --peers-only
  std::vector<Figures> peers;   ///< in the order of Report::peers
};

struct Report {
  std::string version;
  std::string host;  ///< name, processor, cores, kernel
  std::string date;
  std::string transport;
  int ranks = 0;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<PeerInfo> peers;
  std::vector<Row> rows;
};

/// bytes / p50 in GB/s (1e9), and times the bus factor.
[[nodiscard]] double algorithm_bandwidth(const Row& row, const Figures& figures, int ranks);
[[nodiscard]] double bus_bandwidth(const Row& row, const Figures& figures, int ranks);
/// p50 of ours over p50 of the peer: below one is faster.
[[nodiscard]] std::optional<double> ratio(const Row& row, std::size_t peer);
/// The ratio to the fastest peer. The floor is no peer in this sense: no library can reach it.
[[nodiscard]] std::optional<double> best_ratio(const Report& report, const Row& row);
/// "all_reduce f32 sum", with what varies within the report.
[[nodiscard]] std::string series_name(const Shape& shape);
/// The operation's name, or "-" where the collective reduces nothing.
[[nodiscard]] std::string op_name(const Shape& shape);

[[nodiscard]] std::string describe_host();
/// UTC, ISO 8601.
[[nodiscard]] std::string describe_now();

}  // namespace sircl::bench
