#include "bootstrap/unique_id.hpp"

#include <cstring>
#include <fstream>

namespace sircl::bootstrap {
namespace {

struct Layout {
  std::array<char, 8> magic;
  std::uint16_t port;
  std::array<char, 46> group;
  std::array<char, 72> host;
};
static_assert(sizeof(Layout) == sizeof(UniqueId));
constexpr std::array<char, 8> kIdMagic = {'S', 'I', 'R', 'C', 'L', 'I', 'D', '1'};

template <std::size_t N>
bool put(std::array<char, N>& field, const std::string& text) {
  if (text.empty() || text.size() >= N) return false;
  std::memcpy(field.data(), text.data(), text.size());
  return true;
}

template <std::size_t N>
std::string get(const std::array<char, N>& field) {
  return {field.data(), strnlen(field.data(), N)};
}

}  // namespace

Result<UniqueId> encode_unique_id(const UniqueIdParts& parts) {
  Layout layout{};
  layout.magic = kIdMagic;
  layout.port = parts.port;
  if (!put(layout.group, parts.group) || !put(layout.host, parts.host)) {
    return {StatusCode::invalid_argument, "the root's host name is too long for a unique id; use an address"};
  }
  UniqueId id;
  std::memcpy(id.bytes.data(), &layout, sizeof layout);
  return id;
}

Result<UniqueIdParts> decode_unique_id(const UniqueId& id) {
  Layout layout;
  std::memcpy(&layout, id.bytes.data(), sizeof layout);
  UniqueIdParts parts{get(layout.host), layout.port, get(layout.group)};
  if (layout.magic != kIdMagic || parts.host.empty() || parts.group.empty() || parts.port == 0) {
    return {StatusCode::invalid_argument, "this is not a unique id of sircl; hand the 128 bytes of make_unique_id to every rank"};
  }
  return parts;
}

std::string random_group() {
  std::ifstream random("/proc/sys/kernel/random/uuid");
  std::string name;
  random >> name;
  return name;
}

}  // namespace sircl::bootstrap
