// Who may join: what the hub asks of a caller before it counts as a member. No sockets here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "bootstrap/protocol.hpp"

namespace sircl::bootstrap {

/// What a caller must bring.
struct Terms {
  std::string group;
  std::uint64_t epoch = 0;
  int size = 0;
  std::string secret;
  /// Why a seat is not free ("rank 2 has joined already (host:12)"), or nothing.
  std::function<std::optional<std::string>(int rank)> taken;
};

/// One caller, from its first byte to the answer. Holds at most one Hello.
class Caller {
 public:
  enum class State : std::uint8_t { listening, stranger, refused, welcome };

  explicit Caller(const Terms& terms) : terms_(&terms), nonce_(random_nonce()) {}

  /// What to send first.
  [[nodiscard]] Bytes greeting() const {
    return encode(Greeting{kVersion, nonce_, group_mark(terms_->group, nonce_)});
  }
  /// How many bytes it may still say.
  [[nodiscard]] std::size_t wanted() const noexcept { return kHelloBytes - heard_.size(); }
  /// Bytes from the caller, at most wanted(). `stranger`: hang up without a word. Else, once not
  /// `listening`, answer() is to be sent.
  State hear(std::span<const std::byte> bytes);

  [[nodiscard]] const Bytes& answer() const noexcept { return answer_; }
  [[nodiscard]] const Hello& hello() const noexcept { return hello_; }

 private:
  [[nodiscard]] Status judge(const HeardHello& heard) const;
  State refuse(const Status& why, const Nonce& challenge);

  const Terms* terms_;
  Nonce nonce_;
  Bytes heard_;
  Hello hello_;
  Bytes answer_;
};

}  // namespace sircl::bootstrap
