// The channels of one rank to all others, by peer and use.
#pragma once

#include <vector>

#include "cable/channel.hpp"

namespace sircl::exec {

class Channels {
 public:
  Channels(transport::Transport& transport, int ranks, const transport::WindowShape& shape) {
    for (int peer = 0; peer < ranks; ++peer) {
      transport::Lane* lane = transport.lane(peer);
      for (const auto use : {cable::ChannelUse::collective, cable::ChannelUse::point_to_point}) {
        channels_.push_back(lane != nullptr ? cable::Channel(lane, shape, use) : cable::Channel());
      }
    }
  }
  [[nodiscard]] cable::Channel& get(int peer, cable::ChannelUse use) noexcept {
    return channels_[static_cast<std::size_t>(peer) * cable::kChannelsPerLane +
                     static_cast<std::size_t>(use)];
  }

 private:
  std::vector<cable::Channel> channels_;
};

}  // namespace sircl::exec
