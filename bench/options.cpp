#include "options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "peers.hpp"
#include "sircl/sircl.hpp"
#include "sizes.hpp"

namespace sircl::bench {
namespace {

/// What the command line says, as text.
struct Words {
  std::string min_bytes = "1K";
  std::string max_bytes = "16M";
  std::size_t factor = 4;
  std::vector<std::string> sizes;
  std::vector<std::string> ops = {"sum"};
  std::vector<std::string> types = {"float"};
  std::vector<std::string> collectives = {"all_reduce"};
  int in_place = 0;
};

constexpr std::array<ReduceOp, kReduceOpCount> kOps = {
    ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max, ReduceOp::average};

using Problem = std::optional<std::string>;

/// Can `path` be written? Leaves no file behind.
Problem unwritable(const std::string& path) {
  if (path.empty()) return std::nullopt;
  std::error_code ignored;
  const bool existed = std::filesystem::exists(path, ignored);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return fmt::format("cannot write {}: {}", path, std::strerror(errno));
  close(fd);
  if (!existed) std::filesystem::remove(path, ignored);
  return std::nullopt;
}

Problem find_sizes(const Words& words, std::vector<std::size_t>& sizes) {
  const auto parse = [](const std::string& text, std::size_t& to) -> Problem {
    const auto size = parse_size(text);
    if (!size) return fmt::format("\"{}\" is no size (like 4096, 64K, 16M or 1G)", text);
    to = *size;
    return std::nullopt;
  };
  for (const std::string& text : words.sizes) {
    if (auto problem = parse(text, sizes.emplace_back())) return problem;
  }
  if (!sizes.empty()) return std::nullopt;
  std::size_t size = 0;
  std::size_t last = 0;
  if (auto problem = parse(words.min_bytes, size)) return problem;
  if (auto problem = parse(words.max_bytes, last)) return problem;
  if (size == 0 || size > last) {
    return fmt::format("-b {} must be above zero and at most -e {}", words.min_bytes,
                       words.max_bytes);
  }
  for (; size <= last; size *= words.factor) {
    sizes.push_back(size);
    if (size > last / words.factor) break;
  }
  return std::nullopt;
}

Problem find_types(const Words& words, std::vector<DataType>& types) {
  for (const std::string& name : words.types) {
    if (name == "all") {
      for (int t = 0; t < kDataTypeCount; ++t) types.push_back(static_cast<DataType>(t));
    } else if (const auto type = parse_data_type(name)) {
      types.push_back(*type);
    } else {
      std::vector<std::string_view> names;
      for (int t = 0; t < kDataTypeCount; ++t) {
        names.push_back(sircl::to_string(static_cast<DataType>(t)));
      }
      return fmt::format("unknown type \"{}\"; known are {}, float, double, half, bfloat16 and all",
                         name, fmt::join(names, ", "));
    }
  }
  return std::nullopt;
}

Problem find_ops(const Words& words, std::vector<ReduceOp>& ops) {
  for (const std::string& name : words.ops) {
    if (name == "all") {
      ops.insert(ops.end(), kOps.begin(), kOps.end());
    } else if (const auto op = parse_reduce_op(name)) {
      ops.push_back(*op);
    } else {
      return fmt::format("unknown operation \"{}\"; known are sum, prod, min, max, avg and all",
                         name);
    }
  }
  return std::nullopt;
}

Problem find_collectives(const Words& words, std::vector<Collective>& collectives) {
  for (const std::string& name : words.collectives) {
    if (name == "all") {
      for (const auto& known : kCollectiveNames) collectives.push_back(*parse_collective(known));
    } else if (const auto collective = parse_collective(name)) {
      collectives.push_back(*collective);
    } else {
      return fmt::format("unknown collective \"{}\"; known are {} and all", name,
                         fmt::join(kCollectiveNames, ", "));
    }
  }
  return std::nullopt;
}

Problem find_shapes(const Words& words, std::vector<Shape>& shapes) {
  std::vector<std::size_t> sizes;
  std::vector<DataType> types;
  std::vector<ReduceOp> ops;
  std::vector<Collective> collectives;
  if (auto problem = find_sizes(words, sizes)) return problem;
  if (auto problem = find_types(words, types)) return problem;
  if (auto problem = find_ops(words, ops)) return problem;
  if (auto problem = find_collectives(words, collectives)) return problem;
  for (const Collective collective : collectives) {
    if (collective == Collective::barrier) {
      shapes.push_back({collective, 0, DataType::u8, ReduceOp::sum, false});
      continue;
    }
    const bool in_place = words.in_place != 0;
    if (in_place && !has_in_place(collective)) {
      if (collectives.size() > 1) continue;
      return fmt::format("{} has no in-place form", to_string(collective));
    }
    const std::size_t op_count = reduces(collective) ? ops.size() : 1;
    for (const DataType type : types) {
      for (std::size_t op = 0; op < op_count; ++op) {
        for (const std::size_t bytes : sizes) {
          if (bytes < size_of(type)) {
            return fmt::format("{} bytes hold no element of {}", bytes, sircl::to_string(type));
          }
          shapes.push_back({collective, bytes, type, ops[op], in_place});
        }
      }
    }
  }
  return std::nullopt;
}

Problem check_peers(BenchOptions& options) {
  if (options.peers.size() == 1 && options.peers[0] == "all") {
    options.peers = {"openmpi", "mpich", "gloo", "floor"};
  }
  for (const std::string& name : options.peers) {
    const auto& known = peer_names();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return fmt::format("unknown peer \"{}\"; known are {} and all", name, fmt::join(known, ", "));
    }
  }
  if (!options.peers.empty() && options.local == 0) {
    return "--vs starts its peers on this host, so it needs --local N";
  }
  if (options.peers_only && options.peers.empty()) return "--peers-only needs --vs";
  return std::nullopt;
}

void describe(CLI::App& app, BenchOptions& options, Words& words) {
  app.add_option("--local", options.local,
                 "start N ranks on this host, rank r on core r mod cores; without it, run under a "
                 "launcher or with SIRCL_RANK, SIRCL_SIZE and SIRCL_ROOT")
      ->check(CLI::Range(1, 64));
  app.add_option("-b,--minbytes", words.min_bytes, "smallest size (4096, 64K, 16M, 1G)")
      ->capture_default_str();
  app.add_option("-e,--maxbytes", words.max_bytes, "largest size")->capture_default_str();
  app.add_option("-f,--stepfactor", words.factor, "factor between sizes")
      ->check(CLI::Range(2, 1 << 30))
      ->capture_default_str();
  app.add_option("--sizes", words.sizes, "exactly these sizes: 1K,12288,64M")->delimiter(',');
  app.add_option("-n,--iters", options.iterations, "timed iterations of a round (0: by size)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-w,--warmup_iters", options.warmup,
                 "untimed iterations before (default: a tenth, at least two)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rounds", options.rounds,
                 "rounds per size; with --vs ours and the peers take turns (default 1, or 5)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-c,--check", options.check, "check every element of the first and last result");
  app.add_option("-o,--op", words.ops, "sum, prod, min, max, avg, all")->delimiter(',');
  app.add_option("-d,--datatype", words.types, "float, half, bfloat16, f8e4m3, int32, ..., all")
      ->delimiter(',');
  app.add_option("--collective", words.collectives,
                 "all_reduce, all_gather, reduce_scatter, broadcast, reduce, gather, scatter, "
                 "all_to_all, send_recv, barrier, all")
      ->delimiter(',');
  app.add_option("--in-place", words.in_place, "1: output over input")->check(CLI::Range(0, 1));
  app.add_option("--transport", options.transport, "auto, shm or tcp")
      ->envname("SIRCL_TRANSPORT")
      ->check(CLI::IsMember({"auto", "shm", "tcp"}));
  app.add_option("--algorithm", options.algorithm, "auto, or the name of an algorithm")
      ->envname("SIRCL_ALGORITHM");
  app.add_option("--vs", options.peers,
                 "measure others in the same run, taking turns: openmpi, mpich, mpich-stock, gloo, "
                 "floor, copy, all (without copy)")
      ->delimiter(',');
  app.add_flag("--peers-only", options.peers_only, "measure only the peers of --vs");
  app.add_option("--json", options.json, "write the results as JSON to FILE");
  app.add_option("--csv", options.csv, "write the results as CSV to FILE");
  app.add_option("--report", options.report, "write a page with plots to FILE.html");
  app.add_flag("--progress", options.progress, "say on stderr what is being measured");
  app.add_option("--timeout", options.timeout_s, "give up when one result takes longer, seconds")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
}

}  // namespace

int BenchOptions::rounds_in_all() const {
  if (rounds > 0) return rounds;
  return peers.empty() ? 1 : 5;
}

int BenchOptions::iterations_of_round(std::size_t bytes) const {
  if (iterations > 0) return iterations;
  const auto in_all = std::clamp<std::size_t>((std::size_t{256} << 20) / (bytes + 65536), 10, 2000);
  return std::max(2, static_cast<int>(in_all) / rounds_in_all());
}

int BenchOptions::warmup_of_round(std::size_t bytes) const {
  return warmup >= 0 ? warmup : std::max(2, iterations_of_round(bytes) / 10);
}

std::optional<BenchOptions> parse_options(int argc, char** argv, int& code) {
  BenchOptions options;
  Words words;
  CLI::App app("Times collectives over a ring and checks every element of their results.");
  describe(app, options, words);
  code = 2;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    code = app.exit(help);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "ring_allreduce_bench: {}\n", error.what());
    return std::nullopt;
  }
  options.command_line.assign(argv + 1, argv + argc);
  Problem problem = find_shapes(words, options.shapes);
  if (!problem) problem = check_peers(options);
  for (const std::string& path : {options.json, options.csv, options.report}) {
    if (!problem) problem = unwritable(path);
  }
  if (problem) {
    fmt::print(stderr, "ring_allreduce_bench: {}\n", *problem);
    return std::nullopt;
  }
  return options;
}

}  // namespace sircl::bench
