// The registry of settings, and the one place of the project that reads the environment.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::config {

enum class SettingType : std::uint8_t { text, integer, size_bytes, seconds, boolean, choice };

/// One row of the registry.
struct Setting {
  std::string_view name;  ///< "SIRCL_TRANSPORT"
  SettingType type;
  std::string_view unit;           ///< "bytes", "s", "" ...
  std::string_view default_value;  ///< as text; empty: none
  std::string_view choices;        ///< "auto|shm|tcp" for SettingType::choice
  std::string_view doc;            ///< one line
  std::string_view
      fallback;  ///< another variable that is read when this one is unset ("NCCL_IB_TC"), or empty
  bool wire = false;                 ///< affects the wire: must be equal on all ranks
  bool secret = false;               ///< never printed
  std::int64_t minimum = INT64_MIN;  ///< of integer, size and seconds
  std::int64_t maximum = INT64_MAX;

  /// Whether this version does anything with it. Others are known so that files made for later
  /// versions can be read.
  [[nodiscard]] constexpr bool has_effect() const {
    return doc.find("no effect yet") == std::string_view::npos;
  }
};

/// Every setting of the project, sorted by name.
std::span<const Setting> registry();

/// The values in force, each with its source. Immutable after load.
class Settings {
 public:
  /// Overrides (from Options, by name with or without "SIRCL_", any case) over environment over
  /// SIRCL_CONFIG_FILE (lines NAME=VALUE,
  /// '#' comments) over defaults. An unknown SIRCL_ variable, an unknown override or file line, a
  /// malformed or out-of-range value: invalid_setting that names the setting, its value, where it
  /// came from, what is allowed, and for an unknown name the nearest known one.
  static Result<Settings> load(const std::map<std::string, std::string>& overrides = {});
  /// The same over a given environment instead of the process's (tests).
  static Result<Settings> load(const std::map<std::string, std::string>& overrides,
                               const std::map<std::string, std::string>& environment);

  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(
      std::string_view name) const;  // also size_bytes ("64K", "1MiB")
  [[nodiscard]] std::chrono::milliseconds duration(std::string_view name) const;  // "2.5" s
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] bool is_default(std::string_view name) const;
  /// "default", "environment", "options", "file PATH", or "environment NCCL_IB_TC".
  [[nodiscard]] std::string source(std::string_view name) const;
  /// Another launcher's variable (RANK, OMPI_COMM_WORLD_RANK, ...): as it is, or nothing.
  [[nodiscard]] std::optional<std::string> foreign(std::string_view name) const;
  /// "NAME=value" of every setting that affects the wire, for the agreement record.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> wire_values() const;

 private:
  struct Value {
    std::string text;
    std::string source;
  };
  std::map<std::string, Value, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> environment_;
};

}  // namespace sircl::config
