// One lane over one connected, non-blocking TCP socket.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/lane.hpp"
#include "transport/window.hpp"

namespace sircl::transport::tcp {

/// On the wire: this, then `bytes` bytes that belong at `offset` of the receiver's window.
/// Little-endian hosts only (x86-64 and aarch64); the handshake refuses others.
struct Frame {
  std::uint32_t magic = 0;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t flag_offset = 0;
  std::uint64_t flag_value = 0;
};
static_assert(sizeof(Frame) == 32);
inline constexpr std::uint32_t kFrameMagic = 0x314C5453;  // "STL1"

/// Whether a frame from the network fits a window of `window_bytes`.
[[nodiscard]] bool valid(const Frame& frame, std::size_t window_bytes) noexcept;

class TcpLane final : public Lane {
 public:
  /// Takes the descriptor (-1: not connected yet). `name` stands in messages for the connection:
  /// "the connection to rank 3".
  TcpLane(int fd, std::string name, std::shared_ptr<Window> window);
  TcpLane(int fd, int peer, std::size_t window_bytes);
  ~TcpLane() override;

  std::byte* window() noexcept override { return window_->data(); }
  bool can_put() noexcept override;
  void put(std::uint64_t offset, std::span<const std::byte> head, std::span<const std::byte> body,
           std::uint64_t flag_offset, std::uint64_t flag_value) noexcept override;
  bool redirect(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    return window_->redirect(offset, to);
  }
  bool progress() noexcept override;
  int wait_fd() const noexcept override { return fd_; }
  Status status() const override;
  bool failed() const noexcept override { return failed_; }
  bool cheap_flags() const noexcept override { return false; }
  std::uint32_t losses() const noexcept override { return losses_; }
  std::size_t backlog() noexcept override;
  double seconds_per_byte() const noexcept override { return seconds_per_byte_; }

  /// For a lane whose descriptor somebody polls together with others: it only reads after
  /// tell_readable().
  void read_when_told() noexcept { when_told_ = true; }
  void tell_readable() noexcept { readable_ = true; }
  void set_seconds_per_byte(double seconds) noexcept { seconds_per_byte_ = seconds; }
  /// Ends the connection for a reason that the socket does not know of.
  void cut(const std::string& reason) noexcept { fail(reason); }
  /// A new connection in place of a lost one; what was under way on that is lost.
  void replace(int fd) noexcept;

  [[nodiscard]] bool output_pending() const noexcept { return sent_ < pending_.size(); }
  [[nodiscard]] std::uint64_t bytes_out() const noexcept override { return bytes_out_; }
  [[nodiscard]] std::uint64_t bytes_in() const noexcept override { return bytes_in_; }
  /// Sends the rest and waits until the peer's kernel has it all, for `limit` at most.
  void close(std::chrono::steady_clock::time_point limit) noexcept;

 private:
  void flush() noexcept;
  bool receive() noexcept;
  bool read() noexcept;
  void want(std::size_t bytes) noexcept;
  bool consume(const std::byte* data, std::size_t size) noexcept;
  void deliver() noexcept;
  /// Whether the put that is arriving has not come by another lane.
  [[nodiscard]] bool is_news() noexcept {
    return window_->is_news(frame_.flag_offset, frame_.flag_value);
  }
  /// Where the next byte of the body goes: into the window, or nowhere if it is no news there.
  [[nodiscard]] std::span<std::byte> place() noexcept;
  void fail(const std::string& reason) noexcept;

  int fd_;
  std::string name_;
  std::shared_ptr<Window> window_;
  std::vector<std::byte> pending_;  ///< what the kernel did not take yet
  std::size_t sent_ = 0;
  Frame frame_;
  std::size_t frame_have_ = 0;  ///< bytes of frame_ received
  Window::Arrival body_;        ///< the body received so far
  std::array<std::byte, 4096> staging_;
  std::uint64_t bytes_out_ = 0;
  std::uint64_t bytes_in_ = 0;
  double seconds_per_byte_ = 1;
  std::uint32_t losses_ = 0;
  int least_wanted_ = 1;  ///< bytes that make the descriptor readable
  bool when_told_ = false;
  bool readable_ = false;
  bool failed_ = false;
  std::string reason_;
};

}  // namespace sircl::transport::tcp
