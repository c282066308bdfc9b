// The command line of ring_allreduce_bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "request.hpp"

namespace sircl::bench {

struct BenchOptions {
  int local = 0;       ///< 0: the ranks are started by somebody else
  int iterations = 0;  ///< 0: by size
  int warmup = -1;     ///< -1: a tenth of the iterations
  int rounds = 0;      ///< 0: one, or five with peers
  int timeout_s = 300;
  bool check = true;
  bool progress = false;
  bool peers_only = false;
  std::string transport = "auto";
  std::string algorithm = "auto";
  std::string json;
  std::string csv;
  std::string report;
  std::vector<std::string> peers;
  std::vector<Shape> shapes;  ///< what to measure, in order; in elements that any rank count fits
  std::vector<std::string> command_line;

  /// Iterations of one round and the calls before them.
  [[nodiscard]] int iterations_of_round(std::size_t bytes) const;
  [[nodiscard]] int warmup_of_round(std::size_t bytes) const;
  [[nodiscard]] int rounds_in_all() const;
};

/// Parses and checks everything, and prints what is wrong in one line. Nothing to run: the exit
/// status in `code` (0 after --help).
[[nodiscard]] std::optional<BenchOptions> parse_options(int argc, char** argv, int& code);

}  // namespace sircl::bench
