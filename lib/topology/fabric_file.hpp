// SIRCL_FABRIC_FILE: which functions are joined, written down by the user. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::topology {

/// "cable 0:p0l0 1:p1l0": one line per lane, rank and interface of both ends. Empty lines and what
/// follows a # are not read.
struct PinnedLane {
  int first_rank = 0;
  std::string first_interface;
  int second_rank = 0;
  std::string second_interface;
};

/// An invalid_setting names the line by its number and says what is expected. `ranks`: none may be
/// named that is not there; no function may be named twice.
Result<std::vector<PinnedLane>> parse_fabric_file(std::string_view text, int ranks);

}  // namespace sircl::topology
