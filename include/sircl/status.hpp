// Status and Result: how every call of the library reports failure. No call throws.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sircl/export.h"

namespace sircl {

/// Why a call failed. The numeric values are part of the C ABI.
enum class StatusCode : std::uint8_t {
  ok = 0,
  invalid_argument = 1,  ///< an argument of this call is wrong; the communicator stays usable
  invalid_setting = 2,   ///< a setting is unknown, malformed, or out of range
  mismatch = 3,          ///< ranks disagree: other collective, count, type, setting or version
  unreachable = 4,       ///< a rank, the root or a cable could not be reached in time
  refused = 5,           ///< the other side refused: wrong secret, group or protocol
  resource = 6,          ///< memory, files, ports, permissions
  timeout = 7,           ///< no progress within the progress limit
  peer_lost = 8,         ///< a rank died or left while it was needed
  aborted = 9,           ///< abort() was called here or on another rank
  unsupported = 10,      ///< a valid request that this build or transport cannot serve
  internal = 11,         ///< a broken invariant of the library: please report
};

/// "ok", "invalid_argument", ...
[[nodiscard]] SIRCL_API std::string_view to_string(StatusCode code) noexcept;

/// Success, or a code with one line of text that names the thing and the remedy.
/// Cheap to return on success (no allocation). Copies share the text.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::make_shared<const std::string>(std::move(message))) {}

  [[nodiscard]] bool ok() const noexcept { return code_ == StatusCode::ok; }
  [[nodiscard]] StatusCode code() const noexcept { return code_; }
  /// The text without the code; empty on success.
  [[nodiscard]] const std::string& message() const noexcept {
    static const std::string kEmpty;
    return message_ ? *message_ : kEmpty;
  }
  /// "ok", or "code: text".
  [[nodiscard]] std::string to_string() const {
    std::string text(sircl::to_string(code_));
    if (message_) text += ": " + *message_;
    return text;
  }

 private:
  StatusCode code_ = StatusCode::ok;
  std::shared_ptr<const std::string> message_;
};

/// A value, or the Status that explains its absence.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}             // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}     // NOLINT: implicit by design
  Result(StatusCode code, std::string message) : status_(code, std::move(message)) {}

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  /// The value; only after ok().
  [[nodiscard]] T& value() & noexcept { return *value_; }
  [[nodiscard]] const T& value() const& noexcept { return *value_; }
  [[nodiscard]] T&& value() && noexcept { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return std::move(*value_); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace sircl
