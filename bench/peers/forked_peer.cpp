#include "forked_peer.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "local_ranks/pinning.hpp"

namespace sircl::bench {

int fork_ranks(int ranks, const std::function<int(int rank)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      local::pin_to_core_of(rank);
      const int code = body(rank);
      std::fflush(nullptr);
      _exit(code);
    }
    if (pid < 0) {
      std::perror("fork");
      return 1;
    }
  }
  int worst = 0;
  int status = 0;
  while (wait(&status) > 0) {
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return worst;
}

}  // namespace sircl::bench
