#include "schedule/memory.hpp"

#include <algorithm>

namespace sircl::schedule {

void append_run(std::vector<Run>& runs, const Run& run) {
  if (run.count == 0) return;
  if (!runs.empty() && runs.back().end() == run.begin && runs.back().at(run.begin) == run.first) {
    runs.back().count += run.count;
  } else {
    runs.push_back(run);
  }
}

std::vector<Run> Memory::read(std::uint64_t offset, std::uint64_t count) const {
  std::vector<Run> result;
  for (const Run& run : runs_) {
    const std::uint64_t begin = std::max(run.begin, offset);
    const std::uint64_t end = std::min(run.end(), offset + count);
    if (begin < end) append_run(result, {begin - offset, end - begin, run.at(begin)});
  }
  return result;
}

void Memory::write(std::uint64_t offset, std::uint64_t count, const std::vector<Run>& runs) {
  std::vector<Run> result;
  const std::uint64_t end = offset + count;
  for (const Run& run : runs_) {
    if (run.begin < offset) {
      append_run(result, {run.begin, std::min(run.end(), offset) - run.begin, run.first});
    }
  }
  for (const Run& run : runs) append_run(result, {offset + run.begin, run.count, run.first});
  for (const Run& run : runs_) {
    if (run.end() > end) {
      const std::uint64_t begin = std::max(run.begin, end);
      append_run(result, {begin, run.end() - begin, run.at(begin)});
    }
  }
  runs_ = std::move(result);
}

}  // namespace sircl::schedule
