// ring_allreduce_bench: times collectives, checks every element, and compares with other libraries.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "local_launcher.hpp"
#include "local_ranks/private_directory.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "output_table.hpp"
#include "peers.hpp"
#include "runner.hpp"
#include "sircl/sircl.hpp"

namespace sircl::bench {
namespace {

int fail(const std::string& message) {
  fmt::print(stderr, "ring_allreduce_bench: {}\n", message);
  return 1;
}

bool write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::FILE* file = std::fopen(path.c_str(), "w");
  bool ok = file != nullptr;
  if (ok) ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) ok = std::fclose(file) == 0 && ok;
  if (!ok) fail(fmt::format("cannot write {}", path));
  return ok;
}

/// Closes the report: last line, files, exit status.
int conclude(const BenchOptions& options, const Report& report) {
  print_verdict(stdout, report, options.check);
  bool ok = judge(report).wrong == 0;
  if (!options.json.empty()) ok = write_file(options.json, to_json(report)) && ok;
  if (!options.csv.empty()) ok = write_file(options.csv, to_csv(report)) && ok;
  if (!options.report.empty()) ok = write_file(options.report, to_html(report)) && ok;
  if (options.peers_only && judge(report).peers_wrong > 0) ok = false;
  return ok ? 0 : 1;
}

Report new_report(const BenchOptions& options, const Peers* peers) {
  Report report;
  report.host = describe_host();
  report.date = describe_now();
  report.settings = {{"command", fmt::format("{}", fmt::join(options.command_line, " "))},
                     {"transport", options.transport},
                     {"algorithm", options.algorithm},
                     {"rounds", std::to_string(options.rounds_in_all())},
                     {"check", options.check ? "every element" : "off"}};
  if (peers != nullptr) report.peers = peers->infos();
  return report;
}

/// One rank of ours from start to end.
int run_rank(const BenchOptions& options, Options how, Gate* gate, Peers* peers) {
  // Without a word here the library's own sources of settings decide.
  if (options.transport != "auto") how.set("transport", options.transport);
  if (options.algorithm != "auto") how.set("algorithm", options.algorithm);
  auto made = Communicator::create(how);
  if (!made) return fail(made.status().to_string());
  const bool speaker = made->rank() == 0;
  Report report = new_report(options, peers);
  report.version = version();
  report.transport = made->transport();
  report.ranks = made->size();
  for (const Shape& shape : options.shapes) {
    if (shape.collective != Collective::barrier && shape.count(report.ranks) == 0) {
      const std::string message =
          fmt::format("{} of {} bytes leaves no element for each of {} ranks", series_name(shape),
                      shape.bytes, report.ranks);
      return speaker ? fail(message) : 1;
    }
  }
  if (speaker) print_heading(stdout, report);
  const Status status = run_all(options, *made, gate, peers, report,
                                [&](const Row& row) { print_row(stdout, report, row); });
  if (!status.ok()) return fail(fmt::format("rank {}: {}", made->rank(), status.to_string()));
  return speaker ? conclude(options, report) : 0;
}

int run_only_peers(const BenchOptions& options, Peers& peers) {
  Report report = new_report(options, &peers);
  report.version = "not measured";
  report.transport = options.transport == "auto" ? "shm" : options.transport;
  report.ranks = options.local;
  print_heading(stdout, report);
  run_peers(options, peers, report, [&](const Row& row) { print_row(stdout, report, row); });
  return conclude(options, report);
}

int run_local(const BenchOptions& options) {
  const auto directory = local::PrivateDirectory::make("sircl-bench");
  if (!directory) {
    std::perror("ring_allreduce_bench: cannot make a directory in /tmp");
    return 2;
  }
  Peers peers;
  for (const std::string& name : options.peers) {
    const std::string problem =
        peers.start(name, options.local, options.transport, directory->path());
    if (!problem.empty()) fmt::print(stderr, "ring_allreduce_bench: no {}: {}\n", name, problem);
  }
  if (!options.peers.empty() && peers.size() == 0) return fail("none of the peers can be measured");
  if (options.peers_only) return run_only_peers(options, peers);
  Gate gate(options.local);
  const std::string root = "file:" + directory->path() + "/root";
  const auto rank_main = [&](int rank) {
    const bool with_peers = peers.size() > 0;
    if (rank != 0) {
      gate.keep_reading_ends();
      peers.release();
    }
    Options how;
    how.rank(rank).size(options.local).root(root);
    return run_rank(options, how, with_peers ? &gate : nullptr, with_peers ? &peers : nullptr);
  };
  return run_locally(options.local, rank_main, [&] {
    gate.keep_reading_ends();
    peers.close_connections();
  });
}

}  // namespace
}  // namespace sircl::bench

int main(int argc, char** argv) {
  int code = 0;
  auto options = sircl::bench::parse_options(argc, argv, code);
  if (!options) return code;
  if (options->local > 0) return sircl::bench::run_local(*options);
  return sircl::bench::run_rank(*options, {}, nullptr, nullptr);
}
