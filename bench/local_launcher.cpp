#include "local_launcher.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "local_ranks/children.hpp"
#include "local_ranks/held_signals.hpp"
#include "local_ranks/pinning.hpp"

namespace sircl::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);

/// Keeps the worst exit status and says who was killed.
class Outcome {
 public:
  /// True when one of those that ended did so badly.
  bool note(const std::vector<local::Ended>& all) {
    bool bad = false;
    for (const local::Ended& ended : all) {
      worst_ = std::max(worst_, ended.code);
      bad = bad || ended.code != 0;
      if (ended.signal != 0 && !killed_) {
        std::fprintf(stderr, "ring_allreduce_bench: rank %d was ended by signal %d (%s)\n",
                     ended.rank, ended.signal, strsignal(ended.signal));
      }
    }
    return bad;
  }
  /// From here on the launcher kills ranks itself.
  void expect_kills() { killed_ = true; }
  [[nodiscard]] int worst() const { return worst_; }

 private:
  int worst_ = 0;
  bool killed_ = false;
};

}  // namespace

int run_locally(int ranks, const std::function<int(int)>& body,
                const std::function<void()>& parent) {
  const local::HeldSignals signals;
  local::Children children(local::Reach::process);
  Outcome outcome;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) {
      std::perror("ring_allreduce_bench: fork");
      children.signal_all(SIGKILL);
      return 2;
    }
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans if the launcher is killed
      signals.release();
      local::pin_to_core_of(rank);
      const int code = body(rank);
      std::fflush(nullptr);
      _exit(code);
    }
    children.add(pid);
  }
  parent();
  int interrupted = 0;
  auto limit = Clock::time_point::max();
  while (children.running()) {
    const int signal = signals.wait(std::chrono::seconds(1));
    const bool bad = outcome.note(children.collect());
    if (bad && limit == Clock::time_point::max()) limit = Clock::now() + kGrace;
    const bool asked = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (asked) interrupted = 128 + signal;
    if (asked || Clock::now() > limit) {
      if (!asked && children.running()) {
        std::fprintf(stderr,
                     "ring_allreduce_bench: ending the ranks that did not end by themselves\n");
      }
      outcome.expect_kills();
      children.signal_all(SIGKILL);
      limit = Clock::time_point::max();
    }
  }
  return interrupted != 0 ? interrupted : outcome.worst();
}

}  // namespace sircl::bench
