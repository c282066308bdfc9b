// Drives the peer programs: starts them, asks them for measurements, and ends them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "report.hpp"
#include "request.hpp"

namespace sircl::bench {

/// Names that --vs knows.
[[nodiscard]] const std::vector<std::string>& peer_names();

class Peers {
 public:
  Peers() = default;
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers() { stop(); }

  /// Starts `ranks` ranks of the peer; sockets and logs go into `directory`. Returns why it cannot
  /// be used, or an empty text.
  std::string start(const std::string& name, int ranks, const std::string& transport,
                    const std::string& directory);

  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  [[nodiscard]] std::vector<PeerInfo> infos() const;
  /// Measures one peer and adds the round to `series`. While one is measured the ranks of the
  /// others sleep. A peer that fails or stays silent is not asked again.
  void measure(std::size_t peer, const Request& request, std::chrono::seconds timeout,
               Series& series);
  /// Closes the connections without ending the peers: for the processes that do not drive them.
  void close_connections();
  /// In a forked rank that does not drive the peers: forgets them.
  void release();
  /// Ends all peers; those that do not follow are killed.
  void stop();

 private:
  struct Group {
    PeerInfo info;
    pid_t pid = -1;
    std::string log;
    std::vector<int> sockets;  ///< by rank
    std::string dead;          ///< why it is not asked any more
  };

  static std::string accept_ranks(Group& group, int listener, int ranks);

  std::vector<Group> groups_;
};

}  // namespace sircl::bench
