// Memory shared between processes of one host, without a name that could be left behind.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>

#include "sircl/status.hpp"

namespace sircl::sys {

/// A memfd mapping. The creator's peers open it through the creator's /proc entry, so nothing ever
/// appears in /dev/shm, its size limit does not apply, and a killed process leaves nothing.
class SharedMemory {
 public:
  /// `bytes` of zeroed memory, reserved at once so that a shortage is an error here and not a
  /// SIGBUS later.
  static Result<SharedMemory> create(std::size_t bytes);
  /// The memory that another process of this host and user created.
  static Result<SharedMemory> open(pid_t pid, int fd, std::size_t bytes);

  SharedMemory() noexcept = default;
  SharedMemory(SharedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        fd_(std::exchange(other.fd_, -1)) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~SharedMemory();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Closes the descriptor; the mapping stays. Call when all peers have opened it.
  void close_fd() noexcept;

 private:
  static Result<SharedMemory> map(int fd, std::size_t bytes);
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;
};

}  // namespace sircl::sys
