// Runs N ranks as processes of their own and collects how each ended.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "sircl/sircl.hpp"

namespace sircl::test {

struct Ended {
  int exit_code = -1;  ///< -1: killed by a signal
  std::string text;    ///< what the rank wrote with report()
};

class Ranks {
 public:
  /// body returns an empty string when all is well, else what is wrong. It runs in a child.
  using Body = std::function<std::string(int rank)>;

  Ranks(int count, const Body& body) {
    for (int rank = 0; rank < count; ++rank) {
      std::array<int, 2> ends{};
      if (pipe(ends.data()) != 0) std::abort();
      const pid_t pid = fork();
      if (pid == 0) {
        close(ends[0]);
        const std::string text = body(rank);
        if (write(ends[1], text.data(), text.size()) < 0) _exit(3);
        _exit(text.empty() ? 0 : 1);
      }
      close(ends[1]);
      children_.push_back({pid, ends[0]});
    }
  }
  ~Ranks() {
    for (const Child& child : children_) {
      if (!child.ended) {
        kill(child.pid, SIGKILL);
        waitpid(child.pid, nullptr, 0);
      }
      close(child.pipe);
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  void signal(int rank, int number) const { kill(children_[static_cast<std::size_t>(rank)].pid, number); }

  /// Waits for a rank to end; its text is whole then.
  Ended wait(int rank) {
    Child& child = children_[static_cast<std::size_t>(rank)];
    Ended result;
    std::array<char, 4096> buffer;
    ssize_t got = 0;
    while ((got = read(child.pipe, buffer.data(), buffer.size())) > 0) {
      result.text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    int status = 0;
    waitpid(child.pid, &status, 0);
    child.ended = true;
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
  }
  std::vector<Ended> wait_all() {
    std::vector<Ended> all;
    for (std::size_t rank = 0; rank < children_.size(); ++rank) all.push_back(wait(static_cast<int>(rank)));
    return all;
  }

 private:
  struct Child {
    pid_t pid;
    int pipe;
    bool ended = false;
  };
  std::vector<Child> children_;
};

/// A rendezvous file in a private directory that goes away with the object.
class Meeting {
 public:
  Meeting() {
    std::string pattern = "/tmp/sircl-test-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~Meeting() {
    const std::string command = "rm -rf " + directory_;
    if (std::system(command.c_str()) != 0) std::fprintf(stderr, "cannot remove %s\n", directory_.c_str());
  }
  [[nodiscard]] Options options(int rank, int size, const std::string& transport) const {
    Options options;
    options.rank(rank).size(size).root("file:" + directory_ + "/root").set("transport", transport);
    options.set("startup_wait_s", "30");
    return options;
  }
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};

}  // namespace sircl::test
