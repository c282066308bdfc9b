// TCP sockets of the management network.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sircl/status.hpp"
#include "sys/fd.hpp"

namespace sircl::sys {

struct Listening {
  Fd fd;
  std::uint16_t port = 0;
};

/// Listens (non-blocking) on `host`, on the first free port of first..last; 0: any.
Result<Listening> listen_on(const std::string& host, std::uint16_t first, std::uint16_t last);
/// Connects within `limit`; the socket is non-blocking afterwards.
Result<Fd> connect_to(const std::string& host, std::uint16_t port, std::chrono::milliseconds limit);
/// The kernel of a dead host stops answering within seconds; a stopped process does not matter.
void watch_liveness(int fd) noexcept;
/// Whole transfers on a non-blocking socket; false on error, end of file or when `limit` passes.
bool send_all(int fd, std::span<const std::byte> bytes, std::chrono::milliseconds limit) noexcept;
bool receive_all(int fd, std::span<std::byte> bytes, std::chrono::milliseconds limit) noexcept;
/// Whether `host` is an address of the loopback interface.
[[nodiscard]] bool is_loopback(const std::string& host);

}  // namespace sircl::sys
