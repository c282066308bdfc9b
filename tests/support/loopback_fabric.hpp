// A fabric of cables inside one process: every node's network, over TCP on the loopback interface.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "relay/network.hpp"
#include "transport/tcp/tcp_cabling.hpp"

namespace sircl::test {

class LoopbackFabric {
 public:
  /// `rank_at[p]` is the rank at position p; empty: position = rank.
  LoopbackFabric(topology::Fabric fabric, int lanes, const transport::WindowShape& shape,
                 std::vector<int> positions = {})
      : fabric_(fabric), placement_(topology::Placement::identity(fabric.size)) {
    if (!positions.empty()) placement_ = *topology::Placement::from_positions(positions);
    std::vector<std::unique_ptr<transport::Cabling>> cablings;
    std::vector<relay::NetworkOptions> options;
    std::vector<std::vector<std::shared_ptr<transport::Window>>> windows;
    for (int rank = 0; rank < fabric.size; ++rank) {
      options.push_back({fabric, placement_, rank, shape, shape, 4});
      windows.push_back(relay::make_windows(options.back()));
      transport::tcp::CablingOptions how;
      how.rank = rank;
      how.timeout = std::chrono::seconds(10);
      auto made = transport::tcp::listen_on_cables(how, specs(rank, lanes, windows.back()));
      if (!made) throw std::runtime_error(made.status().message());
      cablings.push_back(*std::move(made));
    }
    // Each end's addresses in the order of the other end's lanes.
    std::vector<std::thread> threads;
    std::vector<std::string> problems(static_cast<std::size_t>(fabric.size));
    for (std::size_t rank = 0; rank < cablings.size(); ++rank) {
      std::vector<std::string> remote;
      for (std::size_t i = 0; i < cablings[rank]->size(); ++i) {
        remote.push_back(announced(cablings, static_cast<int>(rank), i));
      }
      threads.emplace_back([&cablings, &problems, rank, remote] {
        problems[rank] = cablings[rank]->connect(remote).message();
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& problem : problems) {
      if (!problem.empty()) throw std::runtime_error(problem);
    }
    for (std::size_t rank = 0; rank < cablings.size(); ++rank) {
      networks_.push_back(
          relay::Network::make(options[rank], std::move(windows[rank]), std::move(cablings[rank])));
    }
  }

  [[nodiscard]] int size() const { return fabric_.size; }
  [[nodiscard]] relay::Network& network(int rank) {
    return *networks_[static_cast<std::size_t>(rank)];
  }
  /// Takes or gives back the link of one lane at both of its ends, as a cut cable does.
  void set_lane(int cable, int lane, bool up) {
    for (const auto& network : networks_) {
      network->cabling().note_link(interface_of(cable, lane), up);
    }
  }
  /// What the group would agree on.
  void announce_cables(const std::vector<bool>& up) {
    for (const auto& network : networks_) network->set_cables(up);
  }
  bool serve_all() {
    bool moved = false;
    for (const auto& network : networks_) moved = network->serve() || moved;
    return moved;
  }

 private:
  // The kernel refuses to bind to a device of this name, so the address alone has to do.
  static std::string interface_of(int cable, int lane) {
    return fmt::format("c{}l{}", cable, lane);
  }

  std::vector<transport::LaneSpec> specs(
      int rank, int lanes, const std::vector<std::shared_ptr<transport::Window>>& windows) const {
    std::vector<transport::LaneSpec> all;
    for (int cable = 0; cable < topology::cables(fabric_); ++cable) {
      const int low = placement_.rank(cable);
      const int high = placement_.rank((cable + 1) % fabric_.size);
      if (rank != low && rank != high) continue;
      for (int lane = 0; lane < lanes; ++lane) {
        transport::LaneSpec spec;
        spec.peer = rank == low ? high : low;
        spec.cable = cable;
        spec.interface = interface_of(cable, lane);
        spec.name = "lane " + spec.interface;
        spec.local = spec.remote = "127.0.0.1";
        spec.calls = rank == high;
        spec.window = windows[static_cast<std::size_t>(spec.peer)];
        all.push_back(std::move(spec));
      }
    }
    return all;
  }

  static std::string announced(const std::vector<std::unique_ptr<transport::Cabling>>& cablings,
                               int rank, std::size_t index) {
    const auto& mine = cablings[static_cast<std::size_t>(rank)]->spec(index);
    const auto& theirs = *cablings[static_cast<std::size_t>(mine.peer)];
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs.spec(i).interface == mine.interface) return theirs.addresses()[i];
    }
    return {};
  }

  topology::Fabric fabric_;
  topology::Placement placement_;
  std::vector<std::unique_ptr<relay::Network>> networks_;
};

}  // namespace sircl::test
