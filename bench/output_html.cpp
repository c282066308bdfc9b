#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "output_files.hpp"
#include "output_table.hpp"
#include "plot.hpp"

namespace sircl::bench {
namespace {

constexpr std::string_view kStyle = R"(
:root { --text: #1c2530; --soft: #5b6673; --ground: #ffffff; --line: #d5dbe2; --c0: #0b62c4;
  --c1: #c2410c; --c2: #15803d; --c3: #9333ea; --c4: #64748b; --c5: #b45309; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e9ef; --soft: #9aa6b4; --ground: #12171d; --line: #323b46; --c0: #60a5fa;
    --c1: #fb923c; --c2: #4ade80; --c3: #c084fc; --c4: #94a3b8; --c5: #fbbf24; --bad: #f87171; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; margin-bottom: .2rem; }
p { margin: .4rem 0; } .soft, dt { color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dd { margin: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .85rem; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
svg { width: 100%; height: auto; font-size: 12px; } svg text { fill: var(--soft); }
.grid { stroke: var(--line); } .frame { fill: none; stroke: var(--soft); }
polyline { fill: none; stroke: currentColor; stroke-width: 2; } circle { fill: currentColor; }
.s0 { color: var(--c0); } .s1 { color: var(--c1); } .s2 { color: var(--c2); } .s3 { color: var(--c3); }
.s4 { color: var(--c4); } .s5 { color: var(--c5); }
.s0 polyline { stroke-width: 3; } .s4 polyline { stroke-dasharray: 6 4; } .s5 polyline { stroke-dasharray: 2 3; }
.key { display: inline-block; width: 1.6em; height: 0; border-top: 3px solid currentColor; vertical-align: middle;
  margin: 0 .4em 0 1em; }
.bad { color: var(--bad); font-weight: 600; }
)";

/// Rows that belong to one pair of plots.
struct Section {
  std::string name;
  std::vector<const Row*> rows;
};

std::vector<Section> sections_of(const Report& report) {
  std::vector<Section> sections;
  for (const Row& row : report.rows) {
    const std::string name = series_name(row.shape);
    auto found = std::find_if(sections.begin(), sections.end(),
                              [&](const Section& section) { return section.name == name; });
    if (found == sections.end()) found = sections.insert(sections.end(), Section{name, {}});
    found->rows.push_back(&row);
  }
  return sections;
}

std::string plot_of(const Report& report, const Section& section, bool bandwidth) {
  Plot plot;
  plot.title = section.name + (bandwidth ? ", bus bandwidth" : ", latency");
  plot.y_label = bandwidth ? "bus bandwidth, GB/s" : "p50, us";
  plot.lines.resize(report.peers.size() + 1);
  plot.lines[0].name = "sircl";
  for (std::size_t i = 0; i < report.peers.size(); ++i) {
    plot.lines[i + 1].name = report.peers[i].name;
  }
  for (const Row* row : section.rows) {
    const auto add = [&](PlotLine& line, const Figures& figures) {
      const auto bytes = static_cast<double>(row->shape.whole_bytes(report.ranks));
      const double value = bandwidth ? bus_bandwidth(*row, figures, report.ranks) : figures.p50_us;
      if (figures.measured() && bytes > 0 && value > 0) line.points.emplace_back(bytes, value);
    };
    if (row->ours) add(plot.lines[0], *row->ours);
    for (std::size_t i = 0; i < row->peers.size(); ++i) add(plot.lines[i + 1], row->peers[i]);
  }
  return to_svg(plot);
}

std::string key_of(const Report& report) {
  std::string key = "<p class=\"key-line\">";
  if (report.rows.empty() || report.rows[0].ours) {
    key += "<span class=\"s0\"><span class=\"key\"></span>sircl</span>";
  }
  for (std::size_t i = 0; i < report.peers.size(); ++i) {
    key += fmt::format("<span class=\"s{}\"><span class=\"key\"></span>{}</span>", i + 1,
                       escape_html(report.peers[i].name));
  }
  return key + "</p>\n";
}

std::string table_row(const Report& report, const Row& row) {
  std::string html =
      fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td>", escape_html(series_name(row.shape)),
                  escape_html(row.algorithm), row.shape.whole_bytes(report.ranks));
  if (row.ours && row.ours->measured()) {
    const Figures& ours = *row.ours;
    html += fmt::format(
        "<td>{:.1f}</td><td>{:.1f}</td><td>{:.1f}</td><td>{:.2f}</td><td>{:.2f}</td><td>{:.1f}</td>"
        "<td{}>{}</td>",
        ours.p50_us, ours.p99_us, ours.min_us, algorithm_bandwidth(row, ours, report.ranks),
        bus_bandwidth(row, ours, report.ranks), ours.cpu_us, ours.wrong > 0 ? " class=\"bad\"" : "",
        ours.wrong);
  } else {
    html += "<td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td>";
  }
  for (std::size_t peer = 0; peer < row.peers.size(); ++peer) {
    const Figures& figures = row.peers[peer];
    const auto r = ratio(row, peer);
    html += fmt::format("<td>{}</td><td>{}</td>",
                        figures.measured() ? fmt::format("{:.1f}", figures.p50_us) : "-",
                        r ? fmt::format("{:.2f}", *r) : "-");
  }
  return html + "</tr>\n";
}

std::string table_of(const Report& report) {
  std::string html =
      "<div class=\"scroll\"><table>\n<tr><th>measured</th><th>algorithm</th><th>bytes</th>"
      "<th>p50 us</th><th>p99 us</th><th>min us</th><th>alg GB/s</th><th>bus GB/s</th>"
      "<th>cpu us</th><th>wrong</th>";
  for (const PeerInfo& peer : report.peers) {
    html += fmt::format("<th>{} p50</th><th>ratio</th>", escape_html(peer.name));
  }
  html += "</tr>\n";
  for (const Row& row : report.rows) html += table_row(report, row);
  return html + "</table></div>\n";
}

std::string facts_of(const Report& report) {
  std::string html = "<dl>\n";
  const auto fact = [&](const std::string& name, const std::string& value) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
  };
  fact("host", report.host);
  fact("date", report.date);
  for (const auto& [name, value] : report.settings) fact(name, value);
  for (const PeerInfo& peer : report.peers) fact(peer.name, peer.given);
  return html + "</dl>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const Verdict verdict = judge(report);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>sircl: {0} ranks over {1}</title>\n<style>{2}</style>\n</head>\n<body>\n"
      "<h1>Collectives of {0} ranks over {1}</h1>\n<p class=\"{3}\">sircl {4}: {5} {7}, {6} "
      "wrong elements</p>\n",
      report.ranks, escape_html(report.transport), kStyle, verdict.wrong > 0 ? "bad" : "soft",
      escape_html(report.version), report.rows.size(), verdict.wrong,
      report.rows.size() == 1 ? "result" : "results");
  for (const Section& section : sections_of(report)) {
    if (section.rows[0]->shape.bytes == 0) continue;  // a barrier has no size to plot over
    html += fmt::format("<h2>{}</h2>\n{}<h3>Bus bandwidth</h3>\n{}<h3>Latency</h3>\n{}",
                        escape_html(section.name), key_of(report), plot_of(report, section, true),
                        plot_of(report, section, false));
  }
  html +=
      "<h2>Figures</h2>\n<p class=\"soft\">Times are those of the slowest rank of each "
      "iteration. A ratio below 1: sircl is faster.</p>\n" +
      table_of(report) + "<h2>How it was measured</h2>\n" + facts_of(report) + "</body>\n</html>\n";
  return html;
}

}  // namespace sircl::bench
