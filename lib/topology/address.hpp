// Addresses as text, and their networks. Pure.
#pragma once

#include <string>
#include <string_view>

#include "sircl/status.hpp"
#include "topology/function.hpp"

namespace sircl::topology {

/// "198.18.2.1", "fd00::1": without the prefix.
[[nodiscard]] std::string to_string(const Address& address);
/// "198.18.2.1/24"
[[nodiscard]] std::string with_prefix(const Address& address);
/// "198.18.2.0/24"
[[nodiscard]] std::string network(const Address& address);
/// 169.254.0.0/16 and fe80::/10.
[[nodiscard]] bool link_local(const Address& address) noexcept;
[[nodiscard]] bool same_network(const Address& a, const Address& b) noexcept;
/// "198.18.2.1/24" or without a prefix (then 32 or 128).
Result<Address> parse_address(std::string_view text);

}  // namespace sircl::topology
