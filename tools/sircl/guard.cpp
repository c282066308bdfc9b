#include "guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <set>

namespace sircl::cli {
namespace {

[[noreturn]] void watch(int socket, const std::string& directory) {
  // The launcher decides when this process ends, not a signal to the terminal's group.
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "sircl-guard");
  // Whoever reads the launcher's output must not wait for this process.
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);

  std::set<pid_t> groups;
  pid_t message = 0;
  while (true) {
    const ssize_t size = recv(socket, &message, sizeof message, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof message) break;
    if (message > 0) groups.insert(message);
    if (message < 0) groups.erase(-message);
  }
  for (const pid_t group : groups) kill(-group, SIGKILL);
  std::error_code ignored;
  if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  _exit(0);
}

}  // namespace

std::optional<Guard> Guard::start(const std::string& directory) {
  std::array<int, 2> sockets{};
  // Whole messages, from several writers.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return std::nullopt;
  const pid_t pid = fork();
  if (pid == 0) {
    close(sockets[0]);
    watch(sockets[1], directory);
  }
  const int error = errno;
  close(sockets[1]);
  if (pid < 0) {
    close(sockets[0]);
    errno = error;
    return std::nullopt;
  }
  return Guard(sockets[0], pid);
}

Guard::~Guard() {
  if (socket_ < 0) return;
  close(socket_);
  waitpid(pid_, nullptr, 0);
}

void Guard::tell(pid_t message) const {
  // A guard that was killed is no reason to end.
  (void)send(socket_, &message, sizeof message, MSG_NOSIGNAL);
}

}  // namespace sircl::cli
