// The table on standard output, in the columns of nccl-tests.
#pragma once

#include <cstdio>

#include "report.hpp"

namespace sircl::bench {

void print_heading(std::FILE* to, const Report& report);
void print_row(std::FILE* to, const Report& report, const Row& row);

struct Verdict {
  std::size_t results = 0;     ///< rows that were measured
  std::size_t unmeasured = 0;  ///< rows of ours without figures
  std::uint64_t wrong = 0;     ///< elements, ours
  std::uint64_t peers_wrong = 0;
};
[[nodiscard]] Verdict judge(const Report& report);
/// The last line; `checked` says whether the elements were compared.
void print_verdict(std::FILE* to, const Report& report, bool checked);

}  // namespace sircl::bench
