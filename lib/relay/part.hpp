// Some of the ranks of a network as a transport of their own, with their own numbers.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "relay/network.hpp"

namespace sircl::relay {

/// Owns the network: it passes on what is for others, also for ranks that are not in the part.
class Part final : public transport::Transport {
 public:
  /// `ranks`: of the network, by rank of the part.
  Part(std::unique_ptr<Network> network, std::vector<int> ranks)
      : network_(std::move(network)), ranks_(std::move(ranks)) {}

  [[nodiscard]] Network& network() noexcept { return *network_; }

  std::string name() const override { return network_->name(); }
  transport::Lane* lane(int peer) noexcept override { return network_->lane(of(peer)); }
  std::optional<transport::WindowShape> shape_to(int peer) const override {
    return network_->shape_to(of(peer));
  }
  std::vector<transport::Lane*> lanes(int peer) override { return network_->lanes(of(peer)); }
  std::size_t memory_bytes() const noexcept override { return network_->memory_bytes(); }
  bool must_serve() const noexcept override { return true; }
  bool serve() noexcept override { return network_->serve(); }
  void rest(std::chrono::milliseconds limit) noexcept override { network_->rest(limit); }
  void prepare_sleep() noexcept override { network_->prepare_sleep(); }
  void cancel_sleep() noexcept override { network_->cancel_sleep(); }
  void sleep(std::chrono::milliseconds limit) noexcept override { network_->sleep(limit); }
  void wake() noexcept override { network_->wake(); }
  void close(std::chrono::milliseconds limit) noexcept override { network_->close(limit); }

 private:
  [[nodiscard]] int of(int peer) const { return ranks_[static_cast<std::size_t>(peer)]; }

  std::unique_ptr<Network> network_;
  std::vector<int> ranks_;
};

}  // namespace sircl::relay
