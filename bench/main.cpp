// ring_allreduce_bench: times all-reduces and checks every element.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "local_launcher.hpp"
#include "sircl/sircl.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  int local = 0;
  std::uint64_t min_bytes = 1024;
  std::uint64_t max_bytes = 16U << 20;
  std::uint64_t factor = 4;
  int iterations = 0;  // 0: by size
  int warmup = -1;
  bool check = true;
  std::string transport = "auto";
  std::string algorithm = "auto";
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// f32 inputs are small integers, so every order of adding gives the same exact sum.
float input(int rank, std::size_t i) { return static_cast<float>(rank + 1) + static_cast<float>(i % 13); }
float expected(int ranks, std::size_t i) {
  return static_cast<float>(ranks * (ranks + 1) / 2) + static_cast<float>(ranks) * static_cast<float>(i % 13);
}

int fail(const sircl::Status& status) {
  fmt::print(stderr, "ring_allreduce_bench: {}\n", status.to_string());
  return 1;
}

int run(const Settings& settings, sircl::Options options) {
  options.set("transport", settings.transport).set("algorithm", settings.algorithm);
  auto made = sircl::Communicator::create(options);
  if (!made) return fail(made.status());
  sircl::Communicator& comm = *made;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const bool speaker = comm.rank() == 0;
  if (speaker) {
    fmt::print("# {} ranks, transport {}\n", ranks, comm.transport());
    fmt::print("#{:>11} {:>11} {:>5} {:>4} {:>18} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>7}\n", "bytes", "count", "type", "op",
               "algorithm", "p50 us", "p99 us", "min us", "alg GB/s", "bus GB/s", "cpu us", "wrong");
  }
  std::uint64_t wrong_total = 0;
  int results = 0;
  for (std::uint64_t bytes = settings.min_bytes; bytes <= settings.max_bytes; bytes *= settings.factor) {
    const std::size_t count = bytes / sizeof(float);
    std::vector<float> in(count);
    std::vector<float> out(count, -1.0F);
    for (std::size_t i = 0; i < count; ++i) in[i] = input(comm.rank(), i);
    const int iterations = settings.iterations > 0 ? settings.iterations
                                                   : static_cast<int>(std::clamp<std::uint64_t>((256U << 20) / (bytes + 65536), 10, 2000));
    const int warmup = settings.warmup >= 0 ? settings.warmup : std::max(2, iterations / 10);
    std::vector<double> times(static_cast<std::size_t>(iterations));
    double cpu = 0;
    for (int i = -warmup; i < iterations; ++i) {
      if (i == 0) cpu = cpu_seconds();
      const auto begin = Clock::now();
      if (sircl::Status s = comm.all_reduce(in.data(), out.data(), count, sircl::DataType::f32); !s.ok()) return fail(s);
      if (i >= 0) times[static_cast<std::size_t>(i)] = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    }
    cpu = (cpu_seconds() - cpu) / iterations * 1e6;
    std::uint64_t wrong = 0;
    if (settings.check) {
      for (std::size_t i = 0; i < count; ++i) wrong += out[i] == expected(comm.size(), i) ? 0 : 1;
    }
    // The slowest rank of each iteration counts.
    std::vector<double> slowest(times.size());
    if (sircl::Status s = comm.reduce(times.data(), slowest.data(), times.size(), sircl::DataType::f64, sircl::ReduceOp::max, 0); !s.ok()) return fail(s);
    std::uint64_t wrong_everywhere = 0;
    if (sircl::Status s = comm.all_reduce(&wrong, &wrong_everywhere, 1, sircl::DataType::u64); !s.ok()) return fail(s);
    double cpu_mean = 0;
    if (sircl::Status s = comm.all_reduce(&cpu, &cpu_mean, 1, sircl::DataType::f64, sircl::ReduceOp::average); !s.ok()) return fail(s);
    wrong_total += wrong_everywhere;
    ++results;
    if (!speaker) continue;
    std::sort(slowest.begin(), slowest.end());
    const double p50 = slowest[slowest.size() / 2];
    const double algbw = static_cast<double>(bytes) / p50 / 1e3;
    fmt::print("{:>12} {:>11} {:>5} {:>4} {:>18} {:>10.1f} {:>10.1f} {:>10.1f} {:>9.2f} {:>9.2f} {:>9.1f} {:>7}\n", bytes, count, "f32", "sum",
               comm.algorithm_for("all_reduce", bytes), p50, slowest[slowest.size() * 99 / 100], slowest.front(), algbw,
               algbw * 2 * static_cast<double>(ranks - 1) / static_cast<double>(ranks), cpu_mean, wrong_everywhere);
    std::fflush(stdout);
  }
  if (speaker) {
    fmt::print("# {} sizes, {} wrong: {}\n", results, wrong_total, wrong_total == 0 ? "correct on all ranks" : "NOT CORRECT");
  }
  return wrong_total == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("All-reduce over a ring: time and correctness");
  app.add_option("--local", settings.local, "start N ranks on this host")->check(CLI::Range(1, 64));
  app.add_option("-b,--minbytes", settings.min_bytes, "smallest size")->transform(CLI::AsSizeValue(false));
  app.add_option("-e,--maxbytes", settings.max_bytes, "largest size")->transform(CLI::AsSizeValue(false));
  app.add_option("-f,--stepfactor", settings.factor, "factor between sizes")->check(CLI::Range(2, 1024));
  app.add_option("-n,--iters", settings.iterations, "timed iterations (0: by size)")->check(CLI::NonNegativeNumber);
  app.add_option("-w,--warmup_iters", settings.warmup, "iterations before")->check(CLI::NonNegativeNumber);
  app.add_option("-c,--check", settings.check, "check every element");
  app.add_option("--transport", settings.transport, "auto, shm or tcp")->check(CLI::IsMember({"auto", "shm", "tcp"}));
  app.add_option("--algorithm", settings.algorithm, "auto or an algorithm");
  CLI11_PARSE(app, argc, argv);
  if (settings.min_bytes < sizeof(float) || settings.min_bytes > settings.max_bytes) {
    fmt::print(stderr, "ring_allreduce_bench: -b must be from 4 bytes to -e\n");
    return 2;
  }
  if (settings.local == 0) return run(settings, {});
  return sircl::bench::run_locally(settings.local, [&](int rank, const std::string& root) {
    sircl::Options options;
    options.rank(rank).size(settings.local).root(root);
    return run(settings, options);
  });
}
