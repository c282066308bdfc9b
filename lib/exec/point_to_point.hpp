// Sends and receives between any two ranks, all progressing at once; and the probes by which ranks
// that wait for each other find out that they called different things.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "exec/channels.hpp"
#include "exec/waiter.hpp"

namespace sircl::exec {

struct Transfer {
  bool outgoing = false;
  int peer = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::size_t done = 0;
  bool started = false;
  std::function<void(const Status&)> finished;
};

class PointToPoint {
 public:
  PointToPoint(Channels& channels, int rank, int ranks, std::size_t slot_bytes,
               LiveCounters& counters);

  /// Queues a transfer behind earlier ones of the same peer and direction.
  void post(Transfer transfer);
  [[nodiscard]] bool idle() const noexcept { return open_ == 0; }
  /// Moves what can move; true if anything did. A broken lane or a wrong size is returned.
  Status progress(bool& moved);
  /// Ends everything that is open.
  void fail_all(const Status& status);
  /// A peer that something is open with, for messages.
  [[nodiscard]] int awaited_peer() const noexcept;

  /// Tells every rank which collective this one waits in. Receivers hand it to `on_probe`.
  void probe(const transport::OperationTag& tag);
  void set_on_probe(std::function<void(int peer, const transport::OperationTag&)> on_probe) {
    on_probe_ = std::move(on_probe);
  }
  /// Takes probes that have arrived. Called while waiting long.
  void take_probes();

 private:
  Status progress_peer(int peer, bool& moved);
  void take_probes_from(int peer, cable::Channel& channel);
  void finish(std::deque<Transfer>& queue, const Status& status);

  Channels& channels_;
  int rank_;
  int ranks_;
  std::size_t slot_bytes_;
  LiveCounters& counters_;
  std::vector<std::deque<Transfer>> outgoing_;
  std::vector<std::deque<Transfer>> incoming_;
  std::size_t open_ = 0;
  std::function<void(int, const transport::OperationTag&)> on_probe_;
};

}  // namespace sircl::exec
