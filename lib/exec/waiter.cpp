#include "exec/waiter.hpp"

#include <fmt/format.h>

namespace sircl::exec {

Status Waiter::overdue(int peer, const Backoff&) {
  const auto now = std::chrono::steady_clock::now();
  if (began_ == std::chrono::steady_clock::time_point{}) {
    began_ = now;
    slow_done_ = false;
  }
  const auto waited = now - began_;
  if (waited > std::chrono::milliseconds(200)) {
    if (slow_) slow_(!slow_done_);
    slow_done_ = true;
  }
  // What a rank sent before it left may still be under way, hence the second.
  if (peer >= 0 && waited > std::chrono::seconds(1) &&
      left_[static_cast<std::size_t>(peer)].load()) {
    return {
        StatusCode::peer_lost,
        fmt::format("rank {} has left the communicator and does not take part in this operation; "
                    "make all ranks call the same operations before they destroy it",
                    peer)};
  }
  if (waited > options_.progress_limit) {
    return {StatusCode::timeout,
            fmt::format("{} for {} s; the rank is alive but does not take part: look at what it is "
                        "doing, or raise SIRCL_SERVING_WAIT_S",
                        peer >= 0 ? fmt::format("nothing came from rank {}", peer)
                                  : std::string("nothing came from any rank"),
                        std::chrono::duration_cast<std::chrono::seconds>(waited).count())};
  }
  return {};
}

}  // namespace sircl::exec
