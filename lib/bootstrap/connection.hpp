// The hub's end of one connection: bytes in and out, without ever blocking.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "bootstrap/admission.hpp"
#include "sys/fd.hpp"

namespace sircl::bootstrap {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(sys::Fd fd, const Terms& terms, Clock::time_point deadline)
      : caller(terms), limit(deadline), fd_(std::move(fd)) {}

  Caller caller;
  Clock::time_point limit;  ///< by when a caller must have become a member or be gone
  int rank = -1;            ///< once admitted
  bool left = false;        ///< said goodbye
  bool closing = false;     ///< to be closed as soon as the output is out
  bool dead = false;        ///< to be closed now
  FrameReader reader;
  std::string label;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] bool is_member() const noexcept { return rank >= 0 && !dead; }
  [[nodiscard]] bool has_output() const noexcept { return !output_.empty(); }

  void queue(std::span<const std::byte> bytes);
  /// Sends what the socket takes. A peer that cannot be written to any more is not dead yet: its
  /// goodbye may still be waiting to be read.
  void flush();
  /// Up to buffer.size() bytes that are there; marks the connection dead at its end.
  std::span<const std::byte> receive(std::span<std::byte> buffer);

 private:
  sys::Fd fd_;
  Bytes output_;
  bool deaf_ = false;  ///< writing failed
};

}  // namespace sircl::bootstrap
