// What ranks tell each other about their functions, as bytes. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sircl/status.hpp"
#include "topology/candidates.hpp"
#include "topology/discovery.hpp"

namespace sircl::topology {

inline constexpr std::size_t kMaxFunctions = 256;  ///< of one rank
inline constexpr std::size_t kMaxHeard = 65536;    ///< by one rank

[[nodiscard]] std::vector<std::byte> encode(const Functions& functions);
[[nodiscard]] std::vector<std::byte> encode(std::span<const Heard> heard);
/// Malformed bytes are a protocol_error ("rank 3 sent ..." is added by the caller).
Result<Functions> decode_functions(std::span<const std::byte> bytes);
Result<std::vector<Heard>> decode_heard(std::span<const std::byte> bytes);

}  // namespace sircl::topology
