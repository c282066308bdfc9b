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
namespace {

constexpr std::size_t kMostAwaitedBytes = 64U << 10;  // the kernel holds so much for every socket

}  // namespace

bool valid(const Frame& frame, std::size_t window_bytes) noexcept {
  return frame.magic == kFrameMagic &&
         fits(frame.offset, frame.bytes, frame.flag_offset, window_bytes);
}

TcpLane::TcpLane(int fd, std::string name, std::shared_ptr<Window> window)
    : fd_(fd), name_(std::move(name)), window_(std::move(window)) {
  window_->add(&body_);
  if (fd_ < 0) fail("is not there yet");
}

TcpLane::TcpLane(int fd, int peer, std::size_t window_bytes)
    : TcpLane(fd, fmt::format("the connection to rank {}", peer),
              std::make_shared<Window>(window_bytes)) {}

TcpLane::~TcpLane() {
  window_->remove(&body_);
  if (fd_ >= 0) ::close(fd_);
}

void TcpLane::fail(const std::string& reason) noexcept {
  if (failed_) return;
  failed_ = true;
  ++losses_;
  reason_ = reason;
  body_.open = false;
}

void TcpLane::replace(int fd) noexcept {
  fail("was replaced");  // counts what was under way as lost, if that was not known yet
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  pending_.clear();
  sent_ = 0;
  frame_have_ = 0;
  least_wanted_ = 1;
  failed_ = false;
}

Status TcpLane::status() const {
  if (!failed_) return {};
  return {StatusCode::peer_lost, fmt::format("{} {}", name_, reason_)};
}

std::size_t TcpLane::backlog() noexcept {
  int unacknowledged = 0;
  if (failed_ || ioctl(fd_, SIOCOUTQ, &unacknowledged) != 0) return 0;
  return pending_.size() - sent_ + static_cast<std::size_t>(unacknowledged);
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
  bytes_out_ += sizeof frame + bytes;
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
  if (!when_told_) return read();
  if (!readable_) return false;
  readable_ = false;
  const bool moved = read();
  want(frame_have_ == sizeof(Frame) ? frame_.bytes - body_.bytes : 1);
  return moved;
}

// Nothing can be done with a part of a message, so nobody needs to be woken for it.
void TcpLane::want(std::size_t bytes) noexcept {
  const int least = static_cast<int>(std::min<std::size_t>(bytes, kMostAwaitedBytes));
  if (failed_ || least == least_wanted_) return;
  if (setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least) == 0) least_wanted_ = least;
}

bool TcpLane::read() noexcept {
  bool moved = false;
  while (true) {
    ssize_t got = 0;
    std::size_t wanted = 0;
    // A long body goes straight to its place; all else through the staging buffer, so that header
    // and short bodies cost one call.
    const bool direct = frame_have_ == sizeof(Frame);
    if (direct) {
      const auto free = place();
      wanted = std::min<std::size_t>(frame_.bytes - body_.bytes, free.size());
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
    bytes_in_ += static_cast<std::size_t>(got);
    if (direct) {
      body_.bytes += static_cast<std::size_t>(got);
      if (body_.bytes == frame_.bytes) deliver();
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
      if (!valid(frame_, window_->size())) {
        fail("carried a malformed frame");
        return false;
      }
      body_ = {frame_.offset, 0, true};
      if (frame_.bytes == 0) deliver();
      continue;
    }
    std::size_t part = std::min(size, static_cast<std::size_t>(frame_.bytes - body_.bytes));
    if (is_news()) {
      const auto free = window_->place(frame_.offset + body_.bytes);
      part = std::min(part, free.size());
      std::memcpy(free.data(), data, part);
    }
    body_.bytes += part;
    data += part;
    size -= part;
    if (body_.bytes == frame_.bytes) deliver();
  }
  return true;
}

// Asked again for each part of a body: the same put may come by another lane meanwhile, and its
// slot be taken and filled anew.
std::span<std::byte> TcpLane::place() noexcept {
  if (!is_news()) return staging_;
  return window_->place(frame_.offset + body_.bytes);
}

void TcpLane::deliver() noexcept {
  // One thread uses a lane, but others may look at its flags: bytes first, then the flag.
  if (is_news()) window_->raise(frame_.flag_offset, frame_.flag_value);
  frame_have_ = 0;
  body_.open = false;
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
