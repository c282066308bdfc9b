#include "bootstrap/connection.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace sircl::bootstrap {

void Connection::queue(std::span<const std::byte> bytes) {
  if (deaf_) return;
  output_.insert(output_.end(), bytes.begin(), bytes.end());
  flush();
}

void Connection::flush() {
  std::size_t done = 0;
  while (done < output_.size()) {
    const ssize_t sent =
        send(fd_.get(), output_.data() + done, output_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
    } else if (errno != EINTR) {
      if (errno != EAGAIN) deaf_ = true;
      break;
    }
  }
  if (deaf_) done = output_.size();
  output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(done));
}

std::span<const std::byte> Connection::receive(std::span<std::byte> buffer) {
  while (true) {
    const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) return buffer.first(static_cast<std::size_t>(got));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN) dead = true;
    return {};
  }
}

}  // namespace sircl::bootstrap
