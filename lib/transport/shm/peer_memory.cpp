#include "transport/shm/peer_memory.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace sircl::transport {

Status PeerMemory::read(int peer, void* to, std::uint64_t from, std::size_t bytes) const {
  const pid_t process = processes_[static_cast<std::size_t>(peer)];
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const iovec local{at, bytes};
    const iovec remote{reinterpret_cast<void*>(from), bytes};
    const ssize_t moved = process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (moved > 0) {
      at += moved;
      from += static_cast<std::uint64_t>(moved);
      bytes -= static_cast<std::size_t>(moved);
      continue;
    }
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0 && errno == ESRCH) {
      return {StatusCode::peer_lost,
              fmt::format("rank {} (process {}) has ended in the middle of an operation", peer,
                          process)};
    }
    return {StatusCode::resource,
            fmt::format("the buffer of rank {} (process {}) cannot be read: {}; keep buffers until "
                        "the operation has ended, or set SIRCL_SHM_SINGLE_COPY=never",
                        peer, process, std::strerror(moved < 0 ? errno : EFAULT))};
  }
  return {};
}

bool PeerMemory::offers(const void* begin, std::size_t bytes) const noexcept {
  if (bytes == 0) return true;
  auto* const first = const_cast<std::byte*>(static_cast<const std::byte*>(begin));
  std::array<std::byte, 2> sample;
  const iovec local{sample.data(), sample.size()};
  const std::array<iovec, 2> remote{iovec{first, 1}, iovec{first + (bytes - 1), 1}};
  return process_vm_readv(processes_[static_cast<std::size_t>(rank_)], &local, 1, remote.data(),
                          remote.size(), 0) == 2;
}

void PeerMemory::permit_all() noexcept {
#ifdef PR_SET_PTRACER
  // Fails where Yama is not built in, which then forbids nothing either.
  (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
}

}  // namespace sircl::transport
