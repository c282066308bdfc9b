// The channels of one rank to all others, by peer and use.
#pragma once

#include <vector>

#include "cable/channel.hpp"

namespace sircl::exec {

class Channels {
 public:
  Channels(transport::Transport& transport, int ranks, const transport::WindowShape& usual) {
    using cable::ChannelUse;
    for (int peer = 0; peer < ranks; ++peer) {
      transport::Lane* lane = transport.lane(peer);
      const auto shape = transport.shape_to(peer).value_or(usual);
      for (const auto use : {ChannelUse::collective, ChannelUse::point_to_point}) {
        if (lane == nullptr) {
          channels_.emplace_back();
        } else if (auto lanes = transport.lanes(peer); !lanes.empty()) {
          channels_.emplace_back(cable::LaneSet(std::move(lanes)), cable::region_of(shape, use),
                                 use == ChannelUse::collective);
          tended_ = true;
        } else {
          channels_.emplace_back(lane, shape, use);
        }
      }
    }
  }
  /// See Channel::tend.
  void tend() noexcept {
    if (!tended_) return;
    for (cable::Channel& channel : channels_) {
      if (channel.slot_bytes() > 0) channel.tend();  // none leads to the own rank
    }
  }
  /// Whether the peers have taken all that was sent, as far as is known; where that matters.
  [[nodiscard]] bool all_taken() noexcept {
    if (!tended_) return true;
    for (cable::Channel& channel : channels_) {
      if (channel.slot_bytes() > 0 && channel.outstanding() > 0) return false;
    }
    return true;
  }
  [[nodiscard]] cable::Channel& get(int peer, cable::ChannelUse use) noexcept {
    return channels_[static_cast<std::size_t>(peer) * cable::kChannelsPerLane +
                     static_cast<std::size_t>(use)];
  }

 private:
  std::vector<cable::Channel> channels_;
  bool tended_ = false;  ///< lanes may fail and come back
};

}  // namespace sircl::exec
