// Where a rank listens for messages from address to address, as it tells the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/candidates.hpp"

namespace sircl::probe {

/// By function and by its address; 0: nobody listens there.
using Ports = std::vector<std::vector<std::uint16_t>>;

/// "40001,0;40002": functions separated by ';', their addresses by ','.
[[nodiscard]] std::string to_string(const Ports& ports);
/// Nothing unless there is a port for exactly every address of every function.
[[nodiscard]] std::optional<Ports> parse_ports(std::string_view text,
                                               const topology::Functions& functions);

}  // namespace sircl::probe
