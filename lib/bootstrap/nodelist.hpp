// Slurm's short form of host lists.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sircl::bootstrap {

/// The first host of "spark[01-04,7],other": "spark01". Nothing if the list makes no sense.
std::optional<std::string> first_node(std::string_view list);

}  // namespace sircl::bootstrap
