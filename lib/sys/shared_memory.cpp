#include "sys/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sircl::sys {

Result<SharedMemory> SharedMemory::create(std::size_t bytes) {
  const int fd = memfd_create("sircl", MFD_CLOEXEC);
  if (fd < 0) {
    return {StatusCode::resource,
            fmt::format("cannot create shared memory (memfd_create: {}); raise the limit of open "
                        "files (ulimit -n) or choose SIRCL_TRANSPORT=tcp",
                        std::strerror(errno))};
  }
  int error = ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  // Reserving now turns a shortage into this message instead of a SIGBUS in the middle of a copy.
  if (error == 0) error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (error != 0) {
    ::close(fd);
    return {StatusCode::resource,
            fmt::format("cannot reserve {} KiB of shared memory ({}); free memory or lower "
                        "SIRCL_SHM_PIECE_BYTES or SIRCL_SHM_SLOT_BYTES",
                        bytes / 1024, std::strerror(error))};
  }
  return map(fd, bytes);
}

Result<SharedMemory> SharedMemory::open(pid_t pid, int remote_fd, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", pid, remote_fd);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return {StatusCode::resource,
            fmt::format("cannot open the shared memory of process {} ({}: {}); ranks of one host "
                        "must run as the same user and see each other in /proc, else choose "
                        "SIRCL_TRANSPORT=tcp",
                        pid, path, std::strerror(errno))};
  }
  struct stat info {};
  if (fstat(fd, &info) != 0 || static_cast<std::size_t>(info.st_size) != bytes) {
    ::close(fd);
    return {StatusCode::resource,
            fmt::format("the shared memory of process {} has not the size that was announced", pid)};
  }
  return map(fd, bytes);
}

Result<SharedMemory> SharedMemory::map(int fd, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    ::close(fd);
    return {StatusCode::resource,
            fmt::format("cannot map {} KiB of shared memory ({}); raise the limit of virtual memory",
                        bytes / 1024, std::strerror(error))};
  }
  SharedMemory memory;
  memory.data_ = static_cast<std::byte*>(data);
  memory.size_ = bytes;
  memory.fd_ = fd;
  return memory;
}

void SharedMemory::close_fd() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
  close_fd();
}

}  // namespace sircl::sys
