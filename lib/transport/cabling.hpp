// The lanes of one rank on a switchless fabric: those of the cables that end in its host. A lane
// that breaks is made anew when its link works again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/lane.hpp"
#include "transport/window.hpp"

namespace sircl::transport {

/// One lane, seen from this rank.
struct LaneSpec {
  int peer = 0;           ///< rank at the other end
  int cable = 0;          ///< by the number that its position gives it
  std::string name;       ///< both ends, for messages: "lane rank 0 p0l0 (198.18.0.1) - rank 1 ..."
  std::string interface;  ///< of this host
  std::string local;      ///< numeric address of the interface
  std::string remote;     ///< numeric address of the other end
  bool calls = false;     ///< this end connects, the other one listens; one of both
  std::shared_ptr<Window> window;  ///< of the peer; shared by all its lanes
};

/// Used by one thread at a time, but for wait() and wake().
class Cabling {
 public:
  virtual ~Cabling() = default;
  [[nodiscard]] virtual std::string name() const = 0;

  /// By lane, to be published: how the other end finds this one; empty where this end calls.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
  /// `remote` by lane: what the other end published. Waits until every lane is there; an error
  /// names those that are missing.
  virtual Status connect(std::span<const std::string> remote) = 0;

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual Lane& lane(std::size_t index) = 0;
  [[nodiscard]] virtual const LaneSpec& spec(std::size_t index) const = 0;
  virtual void set_seconds_per_byte(std::size_t index, double seconds) = 0;

  /// Moves what is under way on all lanes, with as few questions to the kernel as possible: until
  /// the next call the progress() of a lane that has nothing new costs nothing.
  virtual bool poll() = 0;
  /// Answers callers, calls again where a lane is lost. To be called every few milliseconds. True
  /// when a lane was lost or has come back since the last call.
  virtual bool tend() = 0;
  /// The host says that an interface lost its link, or has it again.
  virtual void note_link(const std::string& interface, bool up) = 0;
  /// Another descriptor whose input ends wait().
  virtual void watch(int fd) = 0;
  /// Before a wait: lanes with pending output end it when they can send again.
  virtual void prepare_wait() = 0;
  /// Until something arrives, or wake(). From any thread.
  virtual void wait(std::chrono::milliseconds limit) = 0;
  virtual void wake() noexcept = 0;
  /// Sends what is pending, for `limit` at most.
  virtual void close(std::chrono::milliseconds limit) noexcept = 0;
};

}  // namespace sircl::transport
