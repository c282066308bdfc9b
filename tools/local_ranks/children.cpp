#include "local_ranks/children.hpp"

#include <signal.h>
#include <sys/wait.h>

namespace sircl::local {

std::vector<int> Children::running_ranks() const {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    if (pids_[rank] > 0) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

std::vector<Ended> Children::collect() {
  std::vector<Ended> ended;
  for (std::size_t rank = 0; rank < pids_.size(); ++rank) {
    const pid_t pid = pids_[rank];
    if (pid < 0) continue;
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != pid) {
      continue;
    }
    // Before the process is reaped its number, and so that of its group, cannot be another's.
    if (reach_ == Reach::group) kill(-pid, SIGKILL);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) continue;
    pids_[rank] = -1;
    --running_;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const int code = signal != 0 ? 128 + signal : WEXITSTATUS(status);
    ended.push_back({static_cast<int>(rank), pid, code, signal});
  }
  return ended;
}

void Children::signal_all(int signal) const {
  for (const pid_t pid : pids_) {
    if (pid > 0) kill(reach_ == Reach::group ? -pid : pid, signal);
  }
}

}  // namespace sircl::local
