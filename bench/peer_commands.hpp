// How each peer program is started.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sircl::bench {

struct PeerCommand {
  std::vector<std::string> words;
  std::string given;    ///< for the reader of the results
  std::string program;  ///< the peer program itself
};

/// Nothing for an unknown name. `socket` is where the bench listens.
[[nodiscard]] std::optional<PeerCommand> peer_command(const std::string& name, int ranks,
                                                      const std::string& transport,
                                                      const std::string& socket,
                                                      const std::string& directory);

}  // namespace sircl::bench
