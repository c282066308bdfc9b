// The bytes between a member and the hub.
//
// Hub to caller: Greeting. Caller: Hello, with a MAC over the greeting's nonce and itself. Hub:
// Answer, with a MAC over the caller's nonce. Then frames in both directions. Little-endian. A MAC
// keyed with an empty secret proves nothing, but keeps one shape for both cases.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace sircl::bootstrap {

inline constexpr std::uint32_t kMagic = 0x42524953;  // "SIRB"
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kFrameLimit = 16U << 20;
inline constexpr std::size_t kNameBytes = 64;  ///< group and label, with the zero at their end

using Nonce = std::array<std::byte, 16>;
using Mac = std::array<std::byte, 32>;

struct Greeting {
  std::uint32_t version = kVersion;
  Nonce nonce{};
  Nonce mark{};  ///< group_mark: a caller of another group goes away without having said anything
};

struct Hello {
  std::uint32_t version = kVersion;
  std::int32_t rank = -1;
  std::int32_t size = 0;
  std::uint64_t epoch = 0;
  std::string group;
  std::string label;
  Nonce process{};  ///< process_token of the caller
  Nonce nonce{};
};

struct Answer {
  StatusCode code = StatusCode::ok;  ///< ok: welcome
  std::string text;
};

// Every version starts with magic and version, and a hub of another version sends an Answer of this
// size.
inline constexpr std::size_t kPrefixBytes = 8;
inline constexpr std::size_t kGreetingBytes = 40;
inline constexpr std::size_t kHelloBytes = kPrefixBytes + 16 + 2 * kNameBytes + 32 + sizeof(Mac);
inline constexpr std::size_t kAnswerBytes = 8 + 256 + sizeof(Mac);

Nonce random_nonce();
/// The same for all threads of this process and for no other process, forked ones included.
Nonce process_token();
/// What only those who know the group's name can tell from noise.
Nonce group_mark(const std::string& group, const Nonce& nonce);

Bytes encode(const Greeting& greeting);
std::optional<Greeting> decode_greeting(std::span<const std::byte> bytes);

/// The version of whoever sent these bytes; nothing if they cannot be one of ours.
std::optional<std::uint32_t> version_of(std::span<const std::byte> bytes);
/// Signed for the hub that sent `challenge`.
Bytes encode(const Hello& hello, const std::string& secret, const Nonce& challenge);
/// `proved`: whether the sender knows the secret.
struct HeardHello {
  Hello hello;
  bool proved = false;
};
std::optional<HeardHello> decode_hello(std::span<const std::byte> bytes, const std::string& secret,
                                       const Nonce& challenge);
Bytes encode(const Answer& answer, const std::string& secret, const Nonce& challenge);
struct HeardAnswer {
  Answer answer;
  bool proved = false;
};
std::optional<HeardAnswer> decode_answer(std::span<const std::byte> bytes,
                                         const std::string& secret, const Nonce& challenge);

enum class FrameKind : std::uint32_t {
  gather = 1,    ///< to the hub: step, bytes
  gathered = 2,  ///< everybody's bytes
  failed = 3,    ///< to the hub: a Notice
  leave = 4,     ///< to the hub: goodbye
  notice = 5,    ///< a Notice
  hub_rank = 6,  ///< which rank lives in the hub's process
  closing = 7,   ///< the hub ends in order; nobody has died
};

Bytes frame(FrameKind kind, std::span<const std::byte> payload);
Bytes encode(const Notice& notice);
std::optional<Notice> decode_notice(std::span<const std::byte> payload);
Bytes encode(const std::vector<Bytes>& parts);
std::optional<std::vector<Bytes>> decode_parts(std::span<const std::byte> payload);
Bytes encode_rank(int rank);
std::optional<int> decode_rank(std::span<const std::byte> payload);

/// One rank's part of an all-gather.
struct Part {
  std::string step;
  Bytes bytes;
};
Bytes encode_part(std::string_view step, std::span<const std::byte> bytes);
std::optional<Part> decode_part(std::span<const std::byte> payload);
/// The most bytes that a rank may bring to an all-gather, so that the result fits into a frame.
constexpr std::size_t part_limit(int size) {
  return kFrameLimit / static_cast<std::size_t>(size) - 16;
}

/// Bytes from a socket until a whole frame is there.
class FrameReader {
 public:
  void append(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
  struct Frame {
    FrameKind kind;
    Bytes payload;
  };
  /// The next whole frame; sets `broken` when the stream cannot be one of ours.
  std::optional<Frame> next(bool& broken);

 private:
  Bytes buffer_;
};

}  // namespace sircl::bootstrap
