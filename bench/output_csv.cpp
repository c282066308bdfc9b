#include <fmt/format.h>

#include "output_files.hpp"

namespace sircl::bench {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string text =
      "bytes,count,type,op,collective,algorithm,transport,ranks,in_place,p50_us,p99_us,min_us,"
      "algbw_gbs,busbw_gbs,cpu_us,wrong";
  for (const PeerInfo& peer : report.peers) {
    text += fmt::format(",{0}_p50_us,{0}_ratio", peer.name);
  }
  text += report.peers.empty() ? "\n" : ",best_ratio\n";
  for (const Row& row : report.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{}", row.shape.whole_bytes(report.ranks),
                        row.shape.count(report.ranks), sircl::to_string(row.shape.type),
                        op_name(row.shape), to_string(row.shape.collective), row.algorithm,
                        report.transport, report.ranks, row.shape.in_place ? 1 : 0);
    if (row.ours && row.ours->measured()) {
      const Figures& ours = *row.ours;
      text += fmt::format(",{:.3f},{:.3f},{:.3f},{:.4f},{:.4f},{:.3f},{}", ours.p50_us, ours.p99_us,
                          ours.min_us, algorithm_bandwidth(row, ours, report.ranks),
                          bus_bandwidth(row, ours, report.ranks), ours.cpu_us, ours.wrong);
    } else {
      text += ",,,,,,,";
    }
    for (std::size_t peer = 0; peer < report.peers.size(); ++peer) {
      const Figures& figures = row.peers[peer];
      text += figures.measured() ? fmt::format(",{:.3f}", figures.p50_us) : ",";
      text += fmt::format(",{}", number(ratio(row, peer)));
    }
    text += report.peers.empty() ? "\n" : fmt::format(",{}\n", number(best_ratio(report, row)));
  }
  return text;
}

}  // namespace sircl::bench
