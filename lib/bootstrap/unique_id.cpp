#include "bootstrap/unique_id.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/bytes.hpp"
#include "bootstrap/protocol.hpp"

namespace sircl::bootstrap {
namespace {

constexpr std::string_view kFormat = "SIRCLID1";
constexpr std::size_t kGroupBytes = 46;
constexpr std::size_t kHostBytes = 72;
static_assert(8 + 2 + kGroupBytes + kHostBytes == sizeof(UniqueId));

}  // namespace

Result<UniqueId> encode_unique_id(const UniqueIdParts& parts) {
  if (parts.host.empty() || parts.group.empty() || parts.port == 0 ||
      parts.host.size() >= kHostBytes || parts.group.size() >= kGroupBytes) {
    return {
        StatusCode::invalid_argument,
        fmt::format("host '{}', port {} and group '{}' do not fit into a unique id; use an address "
                    "instead of a long name",
                    parts.host, parts.port, parts.group)};
  }
  ByteWriter out;
  out.raw(std::as_bytes(std::span(kFormat)));
  out.integer(parts.port);
  out.field(parts.group, kGroupBytes);
  out.field(parts.host, kHostBytes);
  UniqueId id;
  std::memcpy(id.bytes.data(), out.bytes().data(), sizeof id.bytes);
  return id;
}

Result<UniqueIdParts> decode_unique_id(const UniqueId& id) {
  ByteReader in(std::as_bytes(std::span(id.bytes)));
  const auto format = in.raw(kFormat.size());
  UniqueIdParts parts;
  parts.port = in.integer<std::uint16_t>();
  parts.group = in.field(kGroupBytes);
  parts.host = in.field(kHostBytes);
  if (std::memcmp(format.data(), kFormat.data(), kFormat.size()) != 0 || parts.host.empty() ||
      parts.group.empty() || parts.port == 0) {
    return {StatusCode::invalid_argument,
            "this is not a unique id of sircl; hand the 128 bytes of make_unique_id to every rank"};
  }
  return parts;
}

std::string random_group() {
  std::string name;
  for (const std::byte b : random_nonce()) name += fmt::format("{:02x}", std::to_integer<int>(b));
  return name;
}

}  // namespace sircl::bootstrap
