#include "comm/cable_follower.hpp"

#include "base/log.hpp"

namespace sircl::detail {
namespace {

/// A cable that is pulled and plugged in again is no reason to give up.
constexpr std::chrono::milliseconds kApartLimit{1000};

}  // namespace

CableFollower::CableFollower(std::shared_ptr<FabricState> state, relay::Network& network)
    : state_(std::move(state)), network_(network) {
  auto events = sys::LinkEvents::open();
  if (!events) {
    log::info("link changes are noticed late: " + events.status().message());
    return;
  }
  links_ = *std::move(events);
  network_.cabling().watch(links_->fd());
}

Status CableFollower::tend() {
  if (links_) {
    for (const auto& event : links_->drain()) {
      network_.cabling().note_link(event.interface, event.up);
    }
  }
  const auto now = std::chrono::steady_clock::now();
  if (const auto up = state_->heard(seen_)) {
    network_.set_cables(*up);
    std::string partition = state_->partition(*up);
    if (partition_.empty()) apart_since_ = now;
    partition_ = std::move(partition);
  }
  if (partition_.empty() || now - apart_since_ < kApartLimit) return {};
  return {StatusCode::unreachable, partition_};
}

}  // namespace sircl::detail
