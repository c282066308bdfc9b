#include "output_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sircl::bench {
namespace {

std::size_t column_width(const PeerInfo& peer) {
  return std::max<std::size_t>(peer.name.size() + 3, 11);
}

std::string cell(const Figures& figures) {
  return figures.measured() ? fmt::format("{:.1f}", figures.p50_us) : "-";
}

}  // namespace

void print_heading(std::FILE* to, const Report& report) {
  fmt::print(to, "# sircl {}, {} ranks, transport {}\n# {}\n", report.version, report.ranks,
             report.transport, report.host);
  for (const PeerInfo& peer : report.peers) fmt::print(to, "# vs {}: {}\n", peer.name, peer.given);
  fmt::print(
      to, "# times: p50 of the slowest rank of each iteration; cpu: mean of the ranks, per call\n");
  if (!report.peers.empty()) {
    fmt::print(to, "# peers: p50 in us, then sircl's p50 over it (below 1: sircl is faster)\n");
  }
  fmt::print(to, "# {:>10} {:>10} {:<14} {:>6} {:>7} {:<18}", "bytes", "count", "collective",
             "type", "op", "algorithm");
  if (report.version != "not measured") {
    fmt::print(to, " {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>6}", "p50 us", "p99 us", "min us",
               "alg GB/s", "bus GB/s", "cpu us", "wrong");
  }
  for (const PeerInfo& peer : report.peers) {
    fmt::print(to, " {:>{}} {:>5}", peer.name, column_width(peer), "ratio");
  }
  fmt::print(to, "\n");
  std::fflush(to);
}

void print_row(std::FILE* to, const Report& report, const Row& row) {
  fmt::print(to, "  {:>10} {:>10} {:<14} {:>6} {:>7} {:<18}", row.shape.whole_bytes(report.ranks),
             row.shape.count(report.ranks), to_string(row.shape.collective),
             sircl::to_string(row.shape.type), op_name(row.shape), row.algorithm);
  if (row.ours && row.ours->measured()) {
    const Figures& ours = *row.ours;
    fmt::print(to, " {:>9.1f} {:>9.1f} {:>9.1f} {:>8.2f} {:>8.2f} {:>9.1f} {:>6}", ours.p50_us,
               ours.p99_us, ours.min_us, algorithm_bandwidth(row, ours, report.ranks),
               bus_bandwidth(row, ours, report.ranks), ours.cpu_us, ours.wrong);
  } else if (row.ours) {
    fmt::print(to, " {:>64}", "-");
  }
  for (std::size_t peer = 0; peer < report.peers.size(); ++peer) {
    const auto r = ratio(row, peer);
    fmt::print(to, " {:>{}} {:>5}", cell(row.peers[peer]), column_width(report.peers[peer]),
               r ? fmt::format("{:.2f}", *r) : "-");
  }
  fmt::print(to, "\n");
  std::fflush(to);
}

Verdict judge(const Report& report) {
  Verdict verdict;
  for (const Row& row : report.rows) {
    if (row.ours) {
      (row.ours->measured() ? verdict.results : verdict.unmeasured) += 1;
      verdict.wrong += row.ours->wrong;
    }
    for (const Figures& peer : row.peers) verdict.peers_wrong += peer.wrong;
  }
  return verdict;
}

void print_verdict(std::FILE* to, const Report& report, bool checked) {
  const Verdict verdict = judge(report);
  std::set<std::string> said;
  for (const Row& row : report.rows) {
    if (row.ours && !row.ours->measured() && said.insert(row.ours->problem).second) {
      fmt::print(to, "# not measured: {}: {}\n", series_name(row.shape), row.ours->problem);
    }
    for (std::size_t peer = 0; peer < row.peers.size(); ++peer) {
      const std::string line = report.peers[peer].name + ": " + row.peers[peer].problem;
      if (!row.peers[peer].measured() && said.insert(line).second) {
        fmt::print(to, "# not measured: {}: {}\n", series_name(row.shape), line);
      }
    }
  }
  if (verdict.peers_wrong > 0) {
    fmt::print(to, "# the peers had {} wrong elements\n", verdict.peers_wrong);
  }
  if (verdict.results + verdict.unmeasured == 0) {
    fmt::print(to, "# {} results of the peers, {} wrong\n", report.rows.size(),
               verdict.peers_wrong);
    return;
  }
  fmt::print(to, "# {} result{}, {}\n", verdict.results, verdict.results == 1 ? "" : "s",
             !checked             ? "not checked"
             : verdict.wrong == 0 ? fmt::format("0 wrong: correct on all {} ranks", report.ranks)
                                  : fmt::format("{} wrong: NOT CORRECT", verdict.wrong));
}

}  // namespace sircl::bench
