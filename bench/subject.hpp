// Our side of a measurement: the library's call for a case.
#pragma once

#include <functional>

#include "case.hpp"
#include "sircl/sircl.hpp"

namespace sircl::bench {

/// The call that is timed. `measured` and `communicator` must outlive it.
[[nodiscard]] std::function<Status()> subject(Communicator& communicator, const Case& measured);

}  // namespace sircl::bench
