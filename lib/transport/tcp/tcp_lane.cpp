#include "transport/tcp/tcp_lane.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace sircl::transport::tcp {

bool valid(const Frame& frame, std::size_t window_bytes) noexcept {
  return frame.magic == kFrameMagic && frame.bytes <= window_bytes &&
         frame.offset <= window_bytes - frame.bytes && frame.flag_offset % 8 == 0 &&
         frame.flag_offset <= window_bytes - 8;
}

TcpLane::TcpLane(int fd, int peer, std::size_t window_bytes)
    : fd_(fd), peer_(peer), window_(window_bytes) {}

TcpLane::~TcpLane() { ::close(fd_); }

void TcpLane::fail(const std::string& reason) noexcept {
  if (failed_) return;
  failed_ = true;
  reason_ = reason;
}

Status TcpLane::status() const {
  if (!failed_) return {};
  return {StatusCode::peer_lost, fmt::format("the connection to rank {} {}", peer_, reason_)};
}

bool TcpLane::can_put() noexcept {
  if (output_pending()) flush();
  return !failed_ && !output_pending();
}

void TcpLane::put(std::uint64_t offset, std::span<const std::byte> head,
                  std::span<const std::byte> body, std::uint64_t flag_offset,
                  std::uint64_t flag_value) noexcept {
  const std::size_t bytes = head.size() + body.size();
  Frame frame{kFrameMagic, static_cast<std::uint32_t>(bytes), offset, flag_offset, flag_value};
  std::array<iovec, 3> parts = {
      iovec{&frame, sizeof frame},
      iovec{const_cast<std::byte*>(head.data()), head.size()},
      iovec{const_cast<std::byte*>(body.data()), body.size()},
  };
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t taken = sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (taken < 0) {
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
      fail(fmt::format("broke while sending: {}", std::strerror(errno)));
      return;
    }
    taken = 0;
  }
  auto done = static_cast<std::size_t>(taken);
  if (done == sizeof frame + bytes) return;
  // The source may be reused on return, so the rest is kept here: rare, and at most one slot.
  pending_.clear();
  sent_ = 0;
  for (const iovec& part : parts) {
    const std::size_t skip = std::min(done, part.iov_len);
    done -= skip;
    const auto* data = static_cast<const std::byte*>(part.iov_base);
    pending_.insert(pending_.end(), data + skip, data + part.iov_len);
  }
}

void TcpLane::flush() noexcept {
  while (output_pending() && !failed_) {
    const ssize_t taken =
        send(fd_, pending_.data() + sent_, pending_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken < 0) {
      if (errno == EAGAIN || errno == ENOBUFS) return;
      if (errno == EINTR) continue;
      fail(fmt::format("broke while sending: {}", std::strerror(errno)));
      return;
    }
    sent_ += static_cast<std::size_t>(taken);
  }
}

bool TcpLane::progress() noexcept {
  if (failed_) return false;
  const bool had_output = output_pending();
  if (had_output) flush();
  return receive() || (had_output && !output_pending());
}

bool TcpLane::receive() noexcept {
  bool moved = false;
  while (true) {
    ssize_t got = 0;
    std::size_t wanted = 0;
    // A long body goes straight to its place; all else through the staging buffer, so that header
    // and short bodies cost one call.
    const bool direct = frame_have_ == sizeof(Frame);
    if (direct) {
      const auto free = place(frame_.offset + body_have_);
      wanted = std::min<std::size_t>(frame_.bytes - body_have_, free.size());
      got = recv(fd_, free.data(), wanted, MSG_DONTWAIT);
    } else {
      wanted = staging_.size();
      got = recv(fd_, staging_.data(), wanted, MSG_DONTWAIT);
    }
    if (got <= 0) {
      if (got == 0) {
        fail("was closed by the other side");
      } else if (errno == EINTR) {
        continue;
      } else if (errno != EAGAIN) {
        fail(fmt::format("broke while receiving: {}", std::strerror(errno)));
      }
      return moved;
    }
    moved = true;
    if (direct) {
      body_have_ += static_cast<std::size_t>(got);
      if (body_have_ == frame_.bytes) deliver();
    } else if (!consume(staging_.data(), static_cast<std::size_t>(got))) {
      return moved;
    }
    if (static_cast<std::size_t>(got) < wanted) return moved;
  }
}

bool TcpLane::consume(const std::byte* data, std::size_t size) noexcept {
  while (size > 0) {
    if (frame_have_ < sizeof(Frame)) {
      const std::size_t part = std::min(size, sizeof(Frame) - frame_have_);
      std::memcpy(reinterpret_cast<std::byte*>(&frame_) + frame_have_, data, part);
      frame_have_ += part;
      data += part;
      size -= part;
      if (frame_have_ < sizeof(Frame)) return true;
      if (!valid(frame_, window_.size())) {
        fail("carried a malformed frame");
        return false;
      }
      if (frame_.bytes == 0) deliver();
      continue;
    }
    const auto free = place(frame_.offset + body_have_);
    const std::size_t part =
        std::min({size, static_cast<std::size_t>(frame_.bytes) - body_have_, free.size()});
    std::memcpy(free.data(), data, part);
    body_have_ += part;
    data += part;
    size -= part;
    if (body_have_ == frame_.bytes) deliver();
  }
  return true;
}

std::span<std::byte> TcpLane::place(std::uint64_t offset) noexcept {
  const std::span<std::byte> window(window_);
  if (redirected_to_.empty() || offset >= redirected_ + redirected_to_.size()) {
    return window.subspan(offset);
  }
  if (offset < redirected_) return window.subspan(offset, redirected_ - offset);
  return redirected_to_.subspan(offset - redirected_);
}

bool TcpLane::redirect(std::uint64_t offset, std::span<std::byte> to) noexcept {
  const bool amid_body = frame_have_ == sizeof(Frame);
  const std::uint64_t received_to = frame_.offset + body_have_;
  if (!to.empty()) {
    // A body that has begun to arrive stays where it is.
    if (amid_body && frame_.offset < offset + to.size() && received_to > offset) return false;
  } else if (amid_body && received_to > redirected_ &&
             frame_.offset < redirected_ + redirected_to_.size()) {
    std::memcpy(window_.data() + redirected_, redirected_to_.data(),
                std::min<std::size_t>(redirected_to_.size(), received_to - redirected_));
  }
  redirected_ = offset;
  redirected_to_ = to;
  return true;
}

void TcpLane::deliver() noexcept {
  // One thread uses a lane, but others may look at its flags: bytes first, then the flag.
  flag_at(window_.data(), frame_.flag_offset).store(frame_.flag_value, std::memory_order_release);
  frame_have_ = 0;
  body_have_ = 0;
}

void TcpLane::close(std::chrono::steady_clock::time_point limit) noexcept {
  // Unread input at close() would send a reset that can overtake our own last bytes, so wait until
  // the peer's kernel has acknowledged them all.
  while (!failed_ && std::chrono::steady_clock::now() < limit) {
    progress();
    int unacknowledged = 0;
    if (!output_pending() && (ioctl(fd_, SIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0)) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  shutdown(fd_, SHUT_WR);
}

}  // namespace sircl::transport::tcp
