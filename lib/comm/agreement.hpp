// What ranks tell each other over the management network while a communicator is made.
#pragma once

#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"

namespace sircl::detail {

/// Everybody's text, by rank. `label` names the step in errors.
Result<std::vector<std::string>> exchange(bootstrap::Member& member, const std::string& mine,
                                          const std::string& label);

/// Everybody learns whether a step worked everywhere: the lowest rank's error is everybody's.
Status agree(bootstrap::Member& member, const Status& mine, const std::string& label);

}  // namespace sircl::detail
