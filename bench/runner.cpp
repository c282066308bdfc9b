#include "runner.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "case.hpp"
#include "loop.hpp"
#include "sizes.hpp"
#include "subject.hpp"

namespace sircl::bench {
namespace {

/// Ends the process when a measurement takes too long: a rank that hangs inside a call cannot be
/// reached in any other way.
class Watchdog {
 public:
  Watchdog() { signal(SIGALRM, end); }
  ~Watchdog() { alarm(0); }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  static void restart(int seconds) { alarm(static_cast<unsigned>(seconds)); }
  static void pause() { alarm(0); }

 private:
  static void end(int /*signal*/) {
    constexpr char kText[] = "ring_allreduce_bench: no result within --timeout, giving up\n";
    (void)!write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(3);
  }
};

std::string label(const Shape& shape) {
  return shape.bytes > 0 ? fmt::format("{}, {}", series_name(shape), format_size(shape.bytes))
                         : series_name(shape);
}

class Progress {
 public:
  Progress(bool shown, std::size_t rows) : shown_(shown), rows_(rows) {}
  void say(std::size_t row, const Shape& shape, int round, int rounds,
           const std::string& who) const {
    if (!shown_) return;
    fmt::print(stderr, "[{}/{}] {}, round {}/{}: {}\n", row + 1, rows_, label(shape), round + 1,
               rounds, who);
  }

 private:
  bool shown_;
  std::size_t rows_;
};

/// One row of the report from the side of one rank.
class Measurement {
 public:
  Measurement(const BenchOptions& options, Communicator& communicator, const Shape& shape)
      : options_(options),
        comm_(communicator),
        case_(shape, communicator.rank(), communicator.size()),
        call_(subject(communicator, case_)) {}

  /// The untimed first call, whose result is checked. Unsupported is no error, but nothing is
  /// measured then.
  Status first() {
    case_.fill();
    const Status status = call_();
    if (status.code() == StatusCode::unsupported || status.code() == StatusCode::invalid_argument) {
      series_.fail(status.message());
      return {};
    }
    if (!status.ok()) return status;
    if (options_.check) wrong_ += case_.wrong();
    return {};
  }

  Status round() {
    if (series_.failed()) return {};
    case_.fill();
    const std::size_t bytes = case_.shape().bytes;
    Timing timing;
    Status failure;
    const bool done = time_loop(options_.warmup_of_round(bytes),
                                options_.iterations_of_round(bytes), timing, [&] {
                                  failure = call_();
                                  return failure.ok();
                                });
    if (!done) return failure;
    // In place the input of the last call was the result of the one before: nothing to compare.
    if (options_.check && !case_.shape().in_place) wrong_ += case_.wrong();
    return share(timing);
  }

  [[nodiscard]] Figures figures() const { return series_.figures(); }

 private:
  /// The slowest rank's times, the mean processor time and the sum of the wrong elements, on all.
  Status share(const Timing& timing) {
    std::vector<double> slowest(timing.iteration_us.size());
    if (Status s = comm_.all_reduce(timing.iteration_us.data(), slowest.data(), slowest.size(),
                                    DataType::f64, ReduceOp::max);
        !s.ok()) {
      return s;
    }
    double cpu_us = timing.cpu_us;
    if (Status s = comm_.all_reduce(std::span<double>(&cpu_us, 1)); !s.ok()) return s;
    std::uint64_t wrong = wrong_;
    if (Status s = comm_.all_reduce(std::span<std::uint64_t>(&wrong, 1)); !s.ok()) return s;
    wrong_ = 0;
    series_.add(slowest, cpu_us / comm_.size(), wrong);
    return {};
  }

  const BenchOptions& options_;
  Communicator& comm_;
  Case case_;
  std::function<Status()> call_;
  std::uint64_t wrong_ = 0;
  Series series_;
};

/// A round of every peer.
void peers_round(const BenchOptions& options, const Shape& shape, Peers& peers,
                 const Report& report, std::vector<Series>& series,
                 const std::function<void(const std::string&)>& say) {
  const Request request{shape, options.iterations_of_round(shape.bytes),
                        options.warmup_of_round(shape.bytes), options.check};
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    if (series[peer].failed()) continue;
    say(report.peers[peer].name);
    Request asked = request;
    if (report.peers[peer].name == "copy") asked.check = false;  // it is not meant to be the sum
    peers.measure(peer, asked, std::chrono::seconds(options.timeout_s), series[peer]);
  }
}

void finish(Report& report, Row row, const std::vector<Series>& peers, const RowSink& sink) {
  for (const Series& series : peers) row.peers.push_back(series.figures());
  report.rows.push_back(std::move(row));
  sink(report.rows.back());
}

}  // namespace

Status run_all(const BenchOptions& options, Communicator& communicator, Gate* gate, Peers* peers,
               Report& report, const RowSink& sink) {
  const Watchdog watchdog;
  const bool speaker = communicator.rank() == 0;
  const Progress progress(options.progress && speaker, options.shapes.size());
  const int rounds = options.rounds_in_all();
  for (std::size_t at = 0; at < options.shapes.size(); ++at) {
    const Shape& shape = options.shapes[at];
    Row row;
    row.shape = shape;
    row.algorithm = communicator.algorithm_for(to_string(shape.collective), shape.bytes);
    std::vector<Series> peer_series(peers != nullptr ? peers->size() : 0);
    Watchdog::restart(options.timeout_s);
    Measurement ours(options, communicator, shape);
    if (Status status = ours.first(); !status.ok()) return status;
    for (int round = 0; round < rounds; ++round) {
      const auto say = [&](const std::string& who) { progress.say(at, shape, round, rounds, who); };
      Watchdog::restart(options.timeout_s);
      say("sircl");
      if (Status status = ours.round(); !status.ok()) return status;
      Watchdog::pause();
      if (gate == nullptr || peers == nullptr) continue;
      if (speaker) {
        peers_round(options, shape, *peers, report, peer_series, say);
        gate->open();
      } else {
        gate->wait(communicator.rank());
      }
    }
    row.ours = ours.figures();
    if (speaker) finish(report, std::move(row), peer_series, sink);
  }
  return {};
}

void run_peers(const BenchOptions& options, Peers& peers, Report& report, const RowSink& sink) {
  const Progress progress(options.progress, options.shapes.size());
  const int rounds = options.rounds_in_all();
  for (std::size_t at = 0; at < options.shapes.size(); ++at) {
    const Shape& shape = options.shapes[at];
    Row row;
    row.shape = shape;
    std::vector<Series> series(peers.size());
    for (int round = 0; round < rounds; ++round) {
      peers_round(options, shape, peers, report, series,
                  [&](const std::string& who) { progress.say(at, shape, round, rounds, who); });
    }
    finish(report, std::move(row), series, sink);
  }
}

}  // namespace sircl::bench
