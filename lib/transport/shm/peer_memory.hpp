// Reads the memory of the other ranks' processes with one copy (process_vm_readv, Linux 3.2).
//
// The kernel allows it to whom it would allow to trace: the same user, and, where Yama restricts
// tracing to ancestors (ptrace_scope 1), only after the other process has said so.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::transport {

class PeerMemory {
 public:
  PeerMemory(int rank, std::vector<pid_t> processes)
      : rank_(rank), processes_(std::move(processes)) {}

  /// Copies `bytes` bytes at `from` in the process of `peer` to `to`.
  Status read(int peer, void* to, std::uint64_t from, std::size_t bytes) const;

  /// Whether the others could read the own range: not so for memory that belongs to a device.
  [[nodiscard]] bool offers(const void* begin, std::size_t bytes) const noexcept;

  /// Lets every process of this user read and trace this one, where Yama would forbid it.
  static void permit_all() noexcept;

 private:
  int rank_;
  std::vector<pid_t> processes_;
};

}  // namespace sircl::transport
