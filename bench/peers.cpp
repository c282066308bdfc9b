#include "peers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "peer_commands.hpp"

namespace sircl::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStartLimit = std::chrono::seconds(30);

int listen_at(const std::string& path, int backlog) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(fd, backlog) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

pid_t spawn(const std::vector<std::string>& words, const std::string& log) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(nothing, STDIN_FILENO);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  fmt::print(stderr, "cannot run {}: {}\n", words[0], std::strerror(errno));
  _exit(127);
}

/// The last line with words in it.
std::string last_words(const std::string& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c) != 0; }))
      last = line;
  }
  return last.empty() ? "no message" : last;
}

/// Reads exactly `bytes`; false at the end, on errors and after the deadline.
bool read_exactly(int fd, void* data, std::size_t bytes, Clock::time_point deadline) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{fd, POLLIN, 0};
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) <= 0) return false;
    const ssize_t got = read(fd, at, bytes);
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool read_line(int fd, std::string& line, Clock::time_point deadline) {
  line.clear();
  for (char c = 0; read_exactly(fd, &c, 1, deadline);) {
    if (c == '\n') return true;
    line += c;
  }
  return false;
}

}  // namespace

const std::vector<std::string>& peer_names() {
  static const std::vector<std::string> kNames = {"openmpi", "mpich", "mpich-stock",
                                                  "gloo",    "floor", "copy"};
  return kNames;
}

std::string Peers::start(const std::string& name, int ranks, const std::string& transport,
                         const std::string& directory) {
  const std::string own = directory + "/" + name;
  std::error_code failed;
  std::filesystem::create_directory(own, failed);
  const std::string path = own + "/socket";
  const auto command = peer_command(name, ranks, transport, path, own);
  if (!command) return "unknown peer";
  if (access(command->program.c_str(), X_OK) != 0) {
    return fmt::format("not built ({} is missing)", command->program);
  }
  const int listener = listen_at(path, ranks);
  if (listener < 0) return fmt::format("cannot listen at {}", path);
  Group group;
  group.info = {name, command->given};
  group.log = own + "/log";
  group.sockets.assign(static_cast<std::size_t>(ranks), -1);
  group.pid = spawn(command->words, group.log);
  std::string problem = accept_ranks(group, listener, ranks);
  close(listener);
  groups_.push_back(std::move(group));
  if (problem.empty()) return {};
  Peers ended;  // its destructor ends the one that did not start
  ended.groups_.push_back(std::move(groups_.back()));
  groups_.pop_back();
  return problem;
}

std::string Peers::accept_ranks(Group& group, int listener, int ranks) {
  const auto deadline = Clock::now() + kStartLimit;
  for (int joined = 0; joined < ranks;) {
    pollfd ready{listener, POLLIN, 0};
    if (poll(&ready, 1, 50) <= 0) {
      int status = 0;
      if (waitpid(group.pid, &status, WNOHANG) == group.pid) {
        group.pid = -1;
        return fmt::format("ended while starting: {}", last_words(group.log));
      }
      if (Clock::now() > deadline) {
        return fmt::format("only {} of {} ranks came up: {}", joined, ranks, last_words(group.log));
      }
      continue;
    }
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    std::string line;
    int rank = -1;
    if (read_line(fd, line, deadline)) std::sscanf(line.c_str(), "rank %d", &rank);
    if (rank < 0 || rank >= ranks || group.sockets[static_cast<std::size_t>(rank)] >= 0) {
      close(fd);
      return fmt::format("a rank introduced itself as \"{}\"", line);
    }
    group.sockets[static_cast<std::size_t>(rank)] = fd;
    ++joined;
  }
  return {};
}

std::vector<PeerInfo> Peers::infos() const {
  std::vector<PeerInfo> infos;
  for (const Group& group : groups_) infos.push_back(group.info);
  return infos;
}

void Peers::measure(std::size_t peer, const Request& request, std::chrono::seconds timeout,
                    Series& series) {
  Group& group = groups_.at(peer);
  if (!group.dead.empty()) return series.fail(group.dead);
  const std::string line = to_line(request);
  for (const int fd : group.sockets) {
    (void)send(fd, line.data(), line.size(), MSG_NOSIGNAL);  // a loss shows in the answer
  }
  const auto deadline = Clock::now() + timeout;
  std::vector<double> slowest(static_cast<std::size_t>(request.iterations), 0.0);
  std::vector<double> times(slowest.size());
  double cpu_us = 0;
  std::uint64_t wrong = 0;
  std::string unsupported;
  for (const int fd : group.sockets) {
    std::string answer;
    if (!read_line(fd, answer, deadline)) {
      group.dead = Clock::now() >= deadline ? "no answer in time"
                                            : fmt::format("ended: {}", last_words(group.log));
      return series.fail(group.dead);
    }
    if (answer.rfind("unsupported ", 0) == 0) {
      unsupported = answer.substr(12);
      continue;
    }
    unsigned long long wrong_here = 0;
    double cpu_here = 0;
    if (std::sscanf(answer.c_str(), "ok %llu %lf", &wrong_here, &cpu_here) != 2 ||
        !read_exactly(fd, times.data(), times.size() * sizeof(double), deadline)) {
      group.dead = answer;
      return series.fail(group.dead);
    }
    for (std::size_t i = 0; i < times.size(); ++i) slowest[i] = std::max(slowest[i], times[i]);
    wrong += wrong_here;
    cpu_us += cpu_here / static_cast<double>(group.sockets.size());
  }
  if (!unsupported.empty()) return series.fail(unsupported);
  series.add(slowest, cpu_us, wrong);
}

void Peers::close_connections() {
  for (Group& group : groups_) {
    for (const int fd : group.sockets) {
      if (fd >= 0) close(fd);
    }
    group.sockets.clear();
  }
}

void Peers::release() {
  close_connections();
  groups_.clear();
}

void Peers::stop() {
  close_connections();
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  for (Group& group : groups_) {
    while (group.pid > 0 && waitpid(group.pid, nullptr, WNOHANG) == 0) {
      if (Clock::now() > deadline) {
        kill(-group.pid, SIGKILL);
        waitpid(group.pid, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  groups_.clear();
}

}  // namespace sircl::bench
