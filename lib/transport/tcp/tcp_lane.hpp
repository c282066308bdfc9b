// One lane over one connected, non-blocking TCP socket.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/lane.hpp"

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
  /// Takes the descriptor. `peer` is for messages.
  TcpLane(int fd, int peer, std::size_t window_bytes);
  ~TcpLane() override;

  std::byte* window() noexcept override { return window_.data(); }
  bool can_put() noexcept override;
  void put(std::uint64_t offset, std::span<const std::byte> head, std::span<const std::byte> body,
           std::uint64_t flag_offset, std::uint64_t flag_value) noexcept override;
  bool redirect(std::uint64_t offset, std::span<std::byte> to) noexcept override;
  bool progress() noexcept override;
  int wait_fd() const noexcept override { return fd_; }
  Status status() const override;
  bool failed() const noexcept override { return failed_; }
  bool cheap_flags() const noexcept override { return false; }

  [[nodiscard]] bool output_pending() const noexcept { return sent_ < pending_.size(); }
  /// Sends the rest and waits until the peer's kernel has it all, for `limit` at most.
  void close(std::chrono::steady_clock::time_point limit) noexcept;

 private:
  void flush() noexcept;
  bool receive() noexcept;
  bool consume(const std::byte* data, std::size_t size) noexcept;
  void deliver() noexcept;
  /// Where the byte at `offset` of the window is stored, and how many after it in the same memory.
  [[nodiscard]] std::span<std::byte> place(std::uint64_t offset) noexcept;
  void fail(const std::string& reason) noexcept;

  int fd_;
  int peer_;
  std::vector<std::byte> window_;
  std::vector<std::byte> pending_;  ///< what the kernel did not take yet
  std::size_t sent_ = 0;
  Frame frame_;
  std::size_t frame_have_ = 0;          ///< bytes of frame_ received
  std::size_t body_have_ = 0;           ///< bytes of the body received
  std::uint64_t redirected_ = 0;        ///< first offset of the window that is elsewhere
  std::span<std::byte> redirected_to_;  ///< and where; empty: nowhere
  std::array<std::byte, 4096> staging_;
  bool failed_ = false;
  std::string reason_;
};

}  // namespace sircl::transport::tcp
