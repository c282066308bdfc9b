// Ends what the ranks started when the launcher itself is killed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace sircl::cli {

/// A process beside the launcher. The kernel kills each rank when the launcher dies
/// (PR_SET_PDEATHSIG), but not the rank's own children: the guard notices the end of the launcher
/// by the end of a socket, kills the process group of every rank that it knows of, and removes the
/// launcher's directory.
class Guard {
 public:
  /// Before other descriptors are opened. Nothing, with errno set, when it cannot be started.
  static std::optional<Guard> start(const std::string& directory);
  Guard(Guard&& other) noexcept : socket_(other.socket_), pid_(other.pid_) {
    other.socket_ = -1;
    other.pid_ = -1;
  }
  Guard& operator=(Guard&&) = delete;
  /// Ends the guard, after all ranks have ended.
  ~Guard();

  /// In the rank's process, before it becomes the program: so no moment is left uncovered.
  void announce(pid_t group) const { tell(group); }
  /// The rank and its group have ended.
  void forget(pid_t group) const { tell(-group); }

 private:
  Guard(int socket, pid_t pid) : socket_(socket), pid_(pid) {}
  void tell(pid_t message) const;

  int socket_;
  pid_t pid_;
};

}  // namespace sircl::cli
