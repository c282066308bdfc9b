// Figures of one measurement and how they come from the times of the iterations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sircl::bench {

struct Figures {
  double p50_us = 0;
  double p99_us = 0;
  double min_us = 0;
  double cpu_us = 0;  ///< processor time per operation, mean of the ranks
  std::uint64_t wrong = 0;
  std::string problem;  ///< why there are no figures

  [[nodiscard]] bool measured() const { return problem.empty(); }
};

/// Collects the rounds of one measurement. The time of an iteration is that of its slowest rank.
class Series {
 public:
  /// One round: `slowest_us` has the slowest rank's time of each iteration.
  void add(const std::vector<double>& slowest_us, double cpu_us, std::uint64_t wrong);
  void fail(const std::string& problem) { problem_ = problem; }
  [[nodiscard]] bool failed() const { return !problem_.empty(); }
  /// p50: the median over the rounds of each round's median. p99 and min: over all iterations.
  [[nodiscard]] Figures figures() const;

 private:
  std::vector<double> medians_;
  std::vector<double> all_;
  double cpu_us_ = 0;
  std::uint64_t wrong_ = 0;
  std::string problem_;
};

/// The value below which `share` (0 to 1) of the values lie; `values` must not be empty.
[[nodiscard]] double percentile(std::vector<double> values, double share);

}  // namespace sircl::bench
