// How a communicator is made: options by name, and the unique id.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "sircl/export.h"
#include "sircl/status.hpp"

namespace sircl {

/// Settings for one communicator. What is not set here comes from the environment (SIRCL_*, then
/// the launcher's variables), then from SIRCL_CONFIG_FILE, then from the defaults.
class Options {
 public:
  /// Sets one setting by name, with or without the prefix "SIRCL_", in any case:
  /// set("transport", "tcp"). Checked when a communicator is created.
  Options& set(std::string_view name, std::string_view value) {
    values_[std::string(name)] = std::string(value);
    return *this;
  }
  Options& rank(int rank) { return set("SIRCL_RANK", std::to_string(rank)); }
  Options& size(int size) { return set("SIRCL_SIZE", std::to_string(size)); }
  /// "host:port", or "file:PATH" for a rendezvous through a file that all ranks see.
  Options& root(std::string_view root) { return set("SIRCL_ROOT", root); }

  [[nodiscard]] const std::map<std::string, std::string>& values() const noexcept {
    return values_;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// 128 bytes that let ranks find each other; hand them to every rank by any means.
struct UniqueId {
  std::array<std::byte, 128> bytes{};
};

/// Makes an id and starts, in this process, the rendezvous that it names; any rank may do so, once
/// per communicator. The rendezvous ends when the communicator ends. `size` ranks must join.
[[nodiscard]] SIRCL_API Result<UniqueId> make_unique_id(int size, const Options& options = {});

}  // namespace sircl
