#include "local_launcher.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "pinning.hpp"

namespace sircl::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(5);

/// Holds back the signals that the launcher waits for, so that it can sleep until one comes.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { release(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  void release() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  /// The next signal, or -1 after a second.
  [[nodiscard]] int wait() const {
    const timespec limit{1, 0};
    return sigtimedwait(&held_, nullptr, &limit);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

class Children {
 public:
  void add(pid_t pid) {
    pids_.push_back(pid);
    ++running_;
  }
  [[nodiscard]] bool running() const { return running_ > 0; }
  [[nodiscard]] int worst() const { return worst_; }

  /// Takes note of those that have ended; true when one ended badly.
  bool collect() {
    bool bad = false;
    for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
      int status = 0;
      if (pids_[rank] < 0 || waitpid(pids_[rank], &status, WNOHANG) != pids_[rank]) continue;
      pids_[rank] = -1;
      --running_;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      worst_ = std::max(worst_, code);
      bad = bad || code != 0;
      if (WIFSIGNALED(status) && !killed_) {
        std::fprintf(stderr, "ring_allreduce_bench: rank %zu was ended by signal %d (%s)\n", rank,
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
      }
    }
    return bad;
  }

  void kill_all() {
    killed_ = true;
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, SIGKILL);
    }
  }

 private:
  std::vector<pid_t> pids_;
  std::size_t running_ = 0;
  int worst_ = 0;
  bool killed_ = false;
};

}  // namespace

std::optional<PrivateDirectory> PrivateDirectory::make() {
  std::string path = "/tmp/sircl-bench-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    std::perror("ring_allreduce_bench: cannot make a directory in /tmp");
    return std::nullopt;
  }
  return PrivateDirectory(path);
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

int run_locally(int ranks, const std::function<int(int)>& body,
                const std::function<void()>& parent) {
  const HeldSignals signals;
  Children children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid < 0) {
      std::perror("ring_allreduce_bench: fork");
      children.kill_all();
      return 2;
    }
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans if the launcher is killed
      signals.release();
      pin_to_core_of(rank);
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
    const int signal = signals.wait();
    const bool bad = children.collect();
    if (bad && limit == Clock::time_point::max()) limit = Clock::now() + kGrace;
    const bool asked = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (asked) interrupted = 128 + signal;
    if (asked || Clock::now() > limit) {
      if (!asked && children.running()) {
        std::fprintf(stderr,
                     "ring_allreduce_bench: ending the ranks that did not end by themselves\n");
      }
      children.kill_all();
      limit = Clock::time_point::max();
    }
  }
  return interrupted != 0 ? interrupted : children.worst();
}

}  // namespace sircl::bench
