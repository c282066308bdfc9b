// The ranks that a launcher has started, and how they ended.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sircl::local {

/// What a signal reaches: the rank's own process, or everything in the process group it leads.
enum class Reach : std::uint8_t { process, group };

struct Ended {
  int rank = 0;
  pid_t pid = 0;
  int code = 0;    ///< exit status; 128 + signal, as shells say it
  int signal = 0;  ///< that ended the rank; 0: it ended by itself
};

class Children {
 public:
  explicit Children(Reach reach) : reach_(reach) {}

  /// The next rank's process.
  void add(pid_t pid) {
    pids_.push_back(pid);
    ++running_;
  }
  [[nodiscard]] bool running() const { return running_ > 0; }
  [[nodiscard]] std::vector<int> running_ranks() const;
  /// Those that have ended since the last call. What an ended rank left in its group is killed.
  std::vector<Ended> collect();
  void signal_all(int signal) const;

 private:
  Reach reach_;
  std::vector<pid_t> pids_;  ///< by rank; -1: ended
  std::size_t running_ = 0;
};

}  // namespace sircl::local
