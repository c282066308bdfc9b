// What identifies this host and process, and how many processors it may use.
#pragma once

#include <string>

namespace sircl::sys {

/// Equal for two processes exactly when they can share memory through /proc: same boot, same
/// process-id namespace.
[[nodiscard]] std::string host_key();
/// "hostname:pid", for messages that name a rank.
[[nodiscard]] std::string process_label();
[[nodiscard]] std::string host_name();
/// Processors that this process may run on, at least 1.
[[nodiscard]] int allowed_processors();

}  // namespace sircl::sys
