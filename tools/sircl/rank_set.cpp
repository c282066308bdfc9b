#include "rank_set.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "command.hpp"
#include "guard.hpp"
#include "local_ranks/children.hpp"
#include "local_ranks/held_signals.hpp"
#include "local_ranks/pinning.hpp"
#include "local_ranks/private_directory.hpp"
#include "output_lines.hpp"
#include "programs.hpp"

namespace sircl::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenTermAndKill{2000};
constexpr const char* kName = "launch";

struct Pipes {
  std::array<int, 2> out{-1, -1};
  std::array<int, 2> err{-1, -1};

  bool open() { return pipe2(out.data(), O_CLOEXEC) == 0 && pipe2(err.data(), O_CLOEXEC) == 0; }
  void close_writing_ends() const {
    for (const int fd : {out[1], err[1]}) {
      if (fd >= 0) close(fd);
    }
  }
};

class Run {
 public:
  Run(const RankSet& set, const local::PrivateDirectory& directory, const Guard& guard)
      : set_(set), root_("file:" + directory.path() + "/root"), guard_(guard) {}

  int run() {
    if (signals_.fd() < 0) return failed("signals");
    for (int rank = 0; rank < set_.ranks; ++rank) {
      if (start(rank)) continue;
      const int code = failed(fmt::format("starting rank {}", rank));
      children_.signal_all(SIGKILL);
      while (children_.running()) collect();
      return code;
    }
    while (children_.running()) step();
    lines_.finish();
    return first_failure_;
  }

 private:
  static int failed(const std::string& what) {
    return complain(kName, fmt::format("{}: {}", what, std::strerror(errno)), kFailed);
  }

  bool start(int rank) {
    Pipes pipes;
    const bool prefixed = set_.output == Output::prefixed;
    if (prefixed && !pipes.open()) return false;
    const pid_t launcher = getpid();
    const pid_t pid = fork();
    if (pid == 0) become_rank(rank, pipes, launcher);
    const int error = errno;
    pipes.close_writing_ends();
    if (prefixed) {
      lines_.add(pipes.out[0], rank, stdout);
      lines_.add(pipes.err[0], rank, stderr);
    }
    if (pid < 0) {
      errno = error;
      return false;
    }
    setpgid(pid, pid);  // here and in the child: whoever comes first
    children_.add(pid);
    return true;
  }

  [[noreturn]] void become_rank(int rank, const Pipes& pipes, pid_t launcher) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(kFailed);  // it died before the line above
    setpgid(0, 0);
    guard_.announce(getpid());
    signals_.release();
    if (set_.pin == Pin::cores) local::pin_to_core_of(rank);
    // Nobody can tell whose the keyboard is.
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, 0);
    if (pipes.out[1] >= 0) {
      dup2(pipes.out[1], 1);
      dup2(pipes.err[1], 2);
    }
    std::vector<std::string> environment = set_.environment;
    environment.push_back(fmt::format("SIRCL_RANK={}", rank));
    environment.push_back(fmt::format("SIRCL_SIZE={}", set_.ranks));
    environment.push_back(fmt::format("SIRCL_LOCAL_RANK={}", rank));
    environment.push_back("SIRCL_ROOT=" + root_);
    std::vector<std::string> arguments = set_.arguments;
    execve(set_.program.c_str(), pointers_to(arguments).data(), pointers_to(environment).data());
    complain(kName, fmt::format("cannot run {}: {}", set_.program, std::strerror(errno)),
             kCannotRun);
    _exit(kCannotRun);
  }

  /// Waits for something to happen and deals with it.
  void step() {
    std::vector<pollfd> wanted = {{signals_.fd(), POLLIN, 0}};
    lines_.append_to(wanted);
    int limit = -1;
    if (deadline_ != Clock::time_point::max()) {
      const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
      limit = static_cast<int>(std::clamp<milliseconds::rep>(left.count() + 1, 0, 1000));
    }
    poll(wanted.data(), wanted.size(), limit);
    lines_.pass_on();
    while (const int signal = signals_.wait(milliseconds(0))) {
      if (signal != SIGCHLD) forward(signal);
    }
    collect();
    if (Clock::now() >= deadline_ && children_.running()) end_the_rest();
  }

  void collect() {
    for (const local::Ended& ended : children_.collect()) {
      guard_.forget(ended.pid);
      if (ended.code == 0) continue;
      if (first_failure_ == 0) {
        first_failure_ = ended.code;
        if (deadline_ == Clock::time_point::max()) deadline_ = Clock::now() + set_.grace;
      }
      // What this launcher ended is not worth a line.
      if (ending_ != Ending::not_yet) continue;
      complain(kName, how_it_ended(ended), 0);
    }
  }

  static std::string how_it_ended(const local::Ended& ended) {
    if (ended.signal == 0)
      return fmt::format("rank {} ended with status {}", ended.rank, ended.code);
    return fmt::format("rank {} was ended by signal {} ({})", ended.rank, ended.signal,
                       strsignal(ended.signal));
  }

  /// The second one means it.
  void forward(int signal) {
    if (forwarded_) {
      end_with(SIGKILL, Ending::killed);
      return;
    }
    forwarded_ = true;
    children_.signal_all(signal);
    deadline_ = std::min(deadline_, Clock::now() + set_.grace);
  }

  void end_the_rest() {
    if (ending_ == Ending::not_yet) {
      complain(kName,
               fmt::format("ending what still runs: rank {}",
                           fmt::join(children_.running_ranks(), ", ")),
               0);
      end_with(SIGTERM, Ending::asked);
      deadline_ = Clock::now() + kBetweenTermAndKill;
    } else {
      end_with(SIGKILL, Ending::killed);
    }
  }

  enum class Ending : std::uint8_t { not_yet, asked, killed };

  void end_with(int signal, Ending ending) {
    ending_ = ending;
    children_.signal_all(signal);
    if (signal == SIGKILL) deadline_ = Clock::time_point::max();
  }

  const RankSet& set_;
  const std::string root_;
  const Guard& guard_;
  const local::HeldSignals signals_;
  local::Children children_{local::Reach::group};
  OutputLines lines_;
  int first_failure_ = 0;
  bool forwarded_ = false;
  Ending ending_ = Ending::not_yet;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace

int run_ranks(const RankSet& set) {
  const auto directory = local::PrivateDirectory::make("sircl-launch");
  if (!directory) {
    return complain(kName, fmt::format("cannot make a directory in /tmp: {}", std::strerror(errno)),
                    kFailed);
  }
  const auto guard = Guard::start(directory->path());
  if (!guard) return complain(kName, fmt::format("cannot fork: {}", std::strerror(errno)), kFailed);
  return Run(set, *directory, *guard).run();
}

}  // namespace sircl::cli
