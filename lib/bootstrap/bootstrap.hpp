// Rendezvous and liveness over the management network: a hub (Root) and its members.
//
// The hub lives in one process (rank 0's, or the one that made the unique id). Every rank, that
// process included, joins it over TCP and keeps the connection for the life of the communicator:
// it carries small all-gathers at set-up, and later only notices (a rank died, left, aborted).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sircl/status.hpp"

namespace sircl::bootstrap {

using Bytes = std::vector<std::byte>;

struct RootOptions {
  std::string bind_host;        ///< address or name to listen on ("127.0.0.1"); empty: loopback
  std::uint16_t port = 0;       ///< 0: an ephemeral port
  std::uint16_t port_last = 0;  ///< with port: try port..port_last (a range)
  int size = 0;                 ///< ranks that must join
  std::string group;            ///< name of the group; strangers with another one are refused
  std::uint64_t epoch = 0;      ///< start-up counter: members of an older one are refused
  std::string secret;           ///< empty: none (then only loopback or an explicit bind_host)
  std::chrono::milliseconds startup_timeout{
      600'000};                               ///< also of every step: who is missing is named
  std::chrono::milliseconds liveness{5'000};  ///< a host that is silent for longer is lost
  std::chrono::milliseconds linger{5'000};    ///< how long destruction waits for members to leave
};

/// The hub: listens, admits members, serves their all-gathers, spreads notices. Destruction goes on
/// serving until all members have left or `linger` has passed; then it tells the rest that it
/// closes in order, which is no death.
class Root {
 public:
  static Result<std::unique_ptr<Root>> start(const RootOptions& options);
  virtual ~Root() = default;
  [[nodiscard]] virtual std::string host() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

enum class NoticeKind : std::uint8_t { died, left, failed };

/// Something that every member is told, in the same order on all.
struct Notice {
  NoticeKind kind = NoticeKind::failed;
  int rank = -1;  ///< who died, left or reported
  StatusCode code = StatusCode::internal;
  std::string text;  ///< one line; the first `died` or `failed` is the group's verdict
};

/// Which cables of the fabric the group uses, agreed on in rounds: prepare on every rank, then
/// commit on every rank. Called on the member's own thread; must not block, nor call back into it.
struct CableWatch {
  /// The promise: the first operation that will wait for the commit.
  std::function<std::uint64_t(const std::vector<bool>& up)> on_prepare;
  std::function<void(const std::vector<bool>& up, std::uint64_t from)> on_commit;
};

struct JoinOptions {
  std::string host;
  std::uint16_t port = 0;
  int rank = 0;
  int size = 0;
  std::string group;
  std::uint64_t epoch = 0;
  std::string secret;
  std::string label;  ///< "host:pid" of this process, for messages that name a rank
  std::chrono::milliseconds startup_timeout{600'000};
  std::chrono::milliseconds liveness{5'000};
  bool once = false;  ///< one attempt; a root of another group then counts as unreachable
  /// Called on the member's own thread. Must not call back into the member, and must not block.
  std::function<void(const Notice&)> on_notice;
};

/// A rank's connection to the hub. all_gather and barrier are called by one thread at a time, in
/// the same order on every rank; report_failure and leave from any thread.
class Member {
 public:
  /// Retries until the root answers or the start-up timeout passes ("rank 3 cannot reach the root
  /// at host:port after 600 s: ...; is rank 0 running? ..."). Wrong secret, group, size, epoch,
  /// duplicate rank: refused at once with the reason.
  static Result<std::unique_ptr<Member>> join(const JoinOptions& options);
  virtual ~Member() = default;

  /// Everybody's bytes, by rank. `label` names the step in errors ("waiting for rank 2 in
  /// 'fabric'"). A death or failure notice ends it with that status.
  virtual Result<std::vector<Bytes>> all_gather(std::span<const std::byte> mine,
                                                const std::string& label) = 0;
  /// Tells the hub that this rank has failed. Returns the group's verdict: the first failure that
  /// the hub heard of (perhaps another rank's), or `mine` when the hub does not answer within two
  /// seconds.
  virtual Status report_failure(const Status& mine) = 0;
  virtual void watch_cables(int count, CableWatch watch) {
    (void)count;
    (void)watch;
  }
  virtual void report_cable(int cable, bool up, const std::string& reason) {
    (void)cable;
    (void)up;
    (void)reason;
  }
  /// Says goodbye, so that the closed connection is not taken for a death. Idempotent, does not
  /// wait.
  virtual void leave() = 0;
};

}  // namespace sircl::bootstrap
