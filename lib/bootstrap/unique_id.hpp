// What the 128 bytes of a UniqueId hold.
#pragma once

#include <cstdint>
#include <string>

#include "sircl/options.hpp"
#include "sircl/status.hpp"

namespace sircl::bootstrap {

struct UniqueIdParts {
  std::string host;
  std::uint16_t port = 0;
  std::string group;
};

Result<UniqueId> encode_unique_id(const UniqueIdParts& parts);
/// Bytes from anywhere: checked.
Result<UniqueIdParts> decode_unique_id(const UniqueId& id);
/// A name that no other group has.
std::string random_group();

}  // namespace sircl::bootstrap
