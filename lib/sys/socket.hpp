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

/// Listens (non-blocking) on `host`, on the first free port of first..last; 0: any. An error names
/// the address, the ports and the remedy.
Result<Listening> listen_on(const std::string& host, std::uint16_t first, std::uint16_t last);
/// Connects within `limit`; the socket is non-blocking afterwards, without delay of small packets.
/// An error names the numeric address that was tried last and the reason.
Result<Fd> connect_to(const std::string& host, std::uint16_t port, std::chrono::milliseconds limit);
/// A host that has been silent for about `limit` (from 1 s) breaks the connection. The kernel
/// answers for a process that is merely stopped or busy.
void watch_liveness(int fd,
                    std::chrono::milliseconds limit = std::chrono::milliseconds(5000)) noexcept;
/// Whole transfers on a non-blocking socket; false on error, end of file or when `limit` passes.
bool send_all(int fd, std::span<const std::byte> bytes, std::chrono::milliseconds limit) noexcept;
bool receive_all(int fd, std::span<std::byte> bytes, std::chrono::milliseconds limit) noexcept;
/// Whether all addresses of `host` are of the loopback interface.
[[nodiscard]] bool is_loopback(const std::string& host);
/// Whether `host` stands for every interface ("0.0.0.0", "::").
[[nodiscard]] bool is_wildcard(const std::string& host);
/// Whether `host` is an address rather than a name.
[[nodiscard]] bool is_numeric(const std::string& host);
/// "10.0.0.1:80", "[fe80::1]:80".
[[nodiscard]] std::string with_port(const std::string& host, std::uint16_t port);

}  // namespace sircl::sys
