#include <nlohmann/json.hpp>

#include "output_files.hpp"

namespace sircl::bench {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json of_peer(const Row& row, std::size_t peer) {
  const Figures& figures = row.peers[peer];
  if (!figures.measured()) return {{"problem", figures.problem}};
  return {{"p50_us", figures.p50_us}, {"p99_us", figures.p99_us},
          {"min_us", figures.min_us}, {"cpu_us", figures.cpu_us},
          {"wrong", figures.wrong},   {"ratio", or_null(ratio(row, peer))}};
}

Json of_row(const Report& report, const Row& row) {
  Json json = {{"bytes", row.shape.whole_bytes(report.ranks)},
               {"count", row.shape.count(report.ranks)},
               {"type", sircl::to_string(row.shape.type)},
               {"op", op_name(row.shape)},
               {"collective", to_string(row.shape.collective)},
               {"algorithm", row.algorithm},
               {"transport", report.transport},
               {"ranks", report.ranks},
               {"in_place", row.shape.in_place}};
  if (row.ours && row.ours->measured()) {
    json.update({{"p50_us", row.ours->p50_us},
                 {"p99_us", row.ours->p99_us},
                 {"min_us", row.ours->min_us},
                 {"algbw_gbs", algorithm_bandwidth(row, *row.ours, report.ranks)},
                 {"busbw_gbs", bus_bandwidth(row, *row.ours, report.ranks)},
                 {"cpu_us", row.ours->cpu_us},
                 {"wrong", row.ours->wrong}});
  } else if (row.ours) {
    json["problem"] = row.ours->problem;
  }
  if (!report.peers.empty()) {
    Json vs = Json::object();
    for (std::size_t peer = 0; peer < report.peers.size(); ++peer) {
      vs[report.peers[peer].name] = of_peer(row, peer);
    }
    json["vs"] = std::move(vs);
    json["best_ratio"] = or_null(best_ratio(report, row));
  }
  return json;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json = {{"version", report.version}, {"date", report.date}, {"host", report.host}};
  Json settings = Json::object();
  for (const auto& [name, value] : report.settings) settings[name] = value;
  json["settings"] = std::move(settings);
  Json peers = Json::object();
  for (const PeerInfo& peer : report.peers) peers[peer.name] = peer.given;
  json["peers"] = std::move(peers);
  json["results"] = Json::array();
  for (const Row& row : report.rows) json["results"].push_back(of_row(report, row));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sircl::bench
