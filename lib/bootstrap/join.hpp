// Everything between "who am I" and a connected member.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/launch.hpp"

namespace sircl::bootstrap {

struct Joined {
  std::unique_ptr<Root> root;  ///< where the hub lives
  std::unique_ptr<Member> member;
};

/// Starts a hub as the settings say. `host` empty: loopback.
Result<std::unique_ptr<Root>> start_root(const config::Settings& settings, const std::string& host,
                                         std::uint16_t port, int size, const std::string& group);

/// Rank 0 starts the hub, unless it is elsewhere (unique id) or given; then everybody joins.
Result<Joined> join_group(const Launch& launch, const config::Settings& settings,
                          std::unique_ptr<Root> root, std::function<void(const Notice&)> on_notice);

}  // namespace sircl::bootstrap
