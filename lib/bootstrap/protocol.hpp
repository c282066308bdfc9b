// The bytes between a member and the hub.
//
// Hub to caller: Greeting. Caller: Hello, with a MAC over the greeting's nonce and itself. Hub: Answer,
// with a MAC over the caller's nonce. Then frames in both directions. Little-endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace sircl::bootstrap {

inline constexpr std::uint32_t kMagic = 0x42524953;  // "SIRB"
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kFrameLimit = 16U << 20;

using Nonce = std::array<std::byte, 16>;
using Mac = std::array<std::byte, 32>;

struct Greeting {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  Nonce nonce{};
};

struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::uint64_t epoch = 0;
  std::array<char, 64> group{};
  std::array<char, 64> label{};
  std::int64_t process = 0;  ///< process id, to tell the hub's own process
  Nonce nonce{};
  Mac mac{};
};

struct Answer {
  std::uint32_t magic = kMagic;
  std::uint32_t code = 0;  ///< StatusCode: 0 is welcome
  std::array<char, 256> text{};
  Mac mac{};
};
static_assert(sizeof(Greeting) == 24 && sizeof(Hello) == 208 && sizeof(Answer) == 296);

enum class FrameKind : std::uint32_t { gather = 1, gathered = 2, failed = 3, leave = 4, notice = 5 };

struct FrameHeader {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
};

Nonce random_nonce();
Mac sign(const std::string& secret, const Nonce& nonce, std::span<const std::byte> message);
[[nodiscard]] bool equal(const Mac& a, const Mac& b) noexcept;

Bytes frame(FrameKind kind, std::span<const std::byte> payload);
Bytes encode(const Notice& notice);
std::optional<Notice> decode_notice(std::span<const std::byte> payload);
Bytes encode(const std::vector<Bytes>& parts);
std::optional<std::vector<Bytes>> decode_parts(std::span<const std::byte> payload);

/// Bytes from a socket until a whole frame is there.
class FrameReader {
 public:
  void append(std::span<const std::byte> bytes) { buffer_.insert(buffer_.end(), bytes.begin(), bytes.end()); }
  /// The next frame's payload; `broken` when the stream cannot be one of ours.
  struct Frame {
    FrameKind kind;
    Bytes payload;
  };
  std::optional<Frame> next(bool& broken);

 private:
  Bytes buffer_;
};

}  // namespace sircl::bootstrap
