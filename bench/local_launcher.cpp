#include "local_launcher.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

namespace sircl::bench {
namespace {

void pin(int rank) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores[static_cast<std::size_t>(rank) % cores.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

}  // namespace

int run_locally(int ranks, const std::function<int(int, const std::string&)>& body) {
  std::string directory = "/tmp/sircl-bench-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) {
    std::perror("cannot make a directory in /tmp");
    return 2;
  }
  const std::string root = "file:" + directory + "/root";
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // no orphans if the launcher is killed
      pin(rank);
      const int code = body(rank, root);
      std::fflush(nullptr);
      _exit(code);
    }
    children.push_back(pid);
  }
  int worst = 0;
  std::size_t running = children.size();
  bool hurried = false;
  auto limit = std::chrono::steady_clock::time_point::max();
  while (running > 0) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      --running;
      const auto rank = std::find(children.begin(), children.end(), pid) - children.begin();
      children[static_cast<std::size_t>(rank)] = -1;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      worst = std::max(worst, code);
      if (WIFSIGNALED(status)) {
        std::fprintf(stderr, "rank %td was ended by signal %d\n", rank, WTERMSIG(status));
      }
      if (code != 0 && !hurried) {
        hurried = true;
        limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
      }
      continue;
    }
    if (std::chrono::steady_clock::now() > limit) {
      for (const pid_t child : children) {
        if (child > 0) kill(child, SIGKILL);
      }
      limit = std::chrono::steady_clock::time_point::max();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return worst;
}

}  // namespace sircl::bench
