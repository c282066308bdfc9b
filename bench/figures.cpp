#include "figures.hpp"

#include <algorithm>
#include <cmath>

namespace sircl::bench {

double percentile(std::vector<double> values, double share) {
  const auto n = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::max(0.0, std::ceil(share * n) - 1));
  const std::size_t at = std::min(rank, values.size() - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void Series::add(const std::vector<double>& slowest_us, double cpu_us, std::uint64_t wrong) {
  medians_.push_back(percentile(slowest_us, 0.5));
  all_.insert(all_.end(), slowest_us.begin(), slowest_us.end());
  cpu_us_ += cpu_us;
  wrong_ += wrong;
}

Figures Series::figures() const {
  Figures figures;
  figures.problem = problem_;
  if (problem_.empty() && medians_.empty()) figures.problem = "not measured";
  if (!figures.measured()) return figures;
  figures.p50_us = percentile(medians_, 0.5);
  figures.p99_us = percentile(all_, 0.99);
  figures.min_us = *std::min_element(all_.begin(), all_.end());
  figures.cpu_us = cpu_us_ / static_cast<double>(medians_.size());
  figures.wrong = wrong_;
  return figures;
}

}  // namespace sircl::bench
