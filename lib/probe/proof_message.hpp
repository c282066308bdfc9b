// What ranks say to each other over their functions while they find out who hears whom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topology/function.hpp"

namespace sircl::probe {

using ProofKey = std::array<std::byte, 16>;

struct ProofMessage {
  topology::FunctionId from;
  bool addressed = false;
  // Only in addressed messages:
  std::uint32_t candidate = 0;  ///< by its place in the list that all ranks have
  topology::FunctionId to;
  bool heard = false;  ///< the sender has heard `to` over this candidate
  bool known = false;  ///< and it knows that `to` has heard it
  bool operator==(const ProofMessage&) const = default;
};

/// Every message has this size.
inline constexpr std::size_t kProofBytes = 4 + 1 + 1 + 5 * 4 + 32;

[[nodiscard]] std::vector<std::byte> encode(const ProofMessage& message, const ProofKey& key);
/// Nothing for whatever is not exactly a message that was signed with `key`.
[[nodiscard]] std::optional<ProofMessage> decode(std::span<const std::byte> bytes,
                                                 const ProofKey& key);
/// Where ranks with this key send to everybody on a link.
[[nodiscard]] std::uint16_t multicast_port(const ProofKey& key);

}  // namespace sircl::probe
