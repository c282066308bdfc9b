// The hub: one thread, one poll loop, no blocking call on any connection.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <optional>
#include <thread>

#include "bootstrap/admission.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/connection.hpp"
#include "bootstrap/gather.hpp"
#include "sys/socket.hpp"

namespace sircl::bootstrap {
namespace {

using Clock = Connection::Clock;
constexpr auto kStrangerLimit = std::chrono::seconds(2);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);
constexpr auto kLastWords = std::chrono::milliseconds(200);
constexpr std::ptrdiff_t kMostStrangers = 256;

class RootImpl final : public Root {
 public:
  RootImpl(const RootOptions& options, sys::Listening listening)
      : options_(options),
        terms_{options.group, options.epoch, options.size, options.secret,
               [this](int rank) { return taken(rank); }},
        listen_(std::move(listening.fd)),
        port_(listening.port),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        gather_(options.size),
        seats_(static_cast<std::size_t>(options.size)),
        thread_([this] { run(); }) {}

  ~RootImpl() override {
    stopping_.store(true);
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
    thread_.join();
  }
  std::string host() const override { return options_.bind_host; }
  std::uint16_t port() const override { return port_; }

 private:
  /// Who sits, or has sat, on a rank's seat: nobody takes the place of a rank that is gone.
  struct Seat {
    std::string label;
    bool joined = false;
    bool left = false;
  };

  void run() {
    std::optional<Clock::time_point> end;
    while (true) {
      if (stopping_.load()) {
        if (!end) end = Clock::now() + options_.linger;
        if (!anybody_elsewhere() || Clock::now() >= *end) break;
      }
      wait_and_serve(next_deadline(end));
      check_deadlines();
      bury();
    }
    close_in_order();
  }

  /// Whether a member of another process has not left yet. Those of this one are not waited for:
  /// the thread that destroys the hub may be the one that ends them next.
  [[nodiscard]] bool anybody_elsewhere() const {
    return std::any_of(connections_.begin(), connections_.end(), [](const Connection& c) {
      return c.is_member() && !c.left && c.caller.hello().process != process_token();
    });
  }

  [[nodiscard]] std::optional<Clock::time_point> next_deadline(
      std::optional<Clock::time_point> end) const {
    const auto sooner = [&end](Clock::time_point at) { end = end ? std::min(*end, at) : at; };
    for (const Connection& connection : connections_) {
      if (connection.rank < 0) sooner(connection.limit);
    }
    if (gather_limit_) sooner(*gather_limit_);
    if (accept_again_) sooner(*accept_again_);
    return end;
  }

  void wait_and_serve(std::optional<Clock::time_point> deadline) {
    // Without descriptors a waiting caller cannot be taken, and would wake this loop for ever.
    const bool accepting = !accept_again_ || Clock::now() >= *accept_again_;
    if (accepting) accept_again_.reset();
    std::vector<pollfd> polled = {
        {wake_.get(), POLLIN, 0},
        {listen_.get(), static_cast<short>(accepting ? POLLIN : 0), 0},
    };
    std::vector<Connection*> order;
    for (Connection& connection : connections_) {
      const int events = POLLIN | (connection.has_output() ? POLLOUT : 0);
      polled.push_back({connection.fd(), static_cast<short>(events), 0});
      order.push_back(&connection);
    }
    poll(polled.data(), polled.size(), milliseconds_until(deadline));
    std::uint64_t ignored = 0;
    if (polled[0].revents != 0) (void)!read(wake_.get(), &ignored, sizeof ignored);
    if ((polled[1].revents & POLLIN) != 0) accept_all();
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (polled[i + 2].revents != 0 && !order[i]->dead) serve(*order[i]);
    }
  }

  static int milliseconds_until(std::optional<Clock::time_point> deadline) {
    if (!deadline) return -1;
    // Rounded up, so that the deadline has passed when poll returns.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
    return static_cast<int>(std::clamp<long>(left.count(), 0, 60'000));
  }

  void accept_all() {
    while (true) {
      sys::Fd fd(accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno != EAGAIN) accept_again_ = Clock::now() + kAcceptPause;
        return;
      }
      const auto strangers = std::count_if(connections_.begin(), connections_.end(),
                                           [](const Connection& c) { return c.rank < 0; });
      if (strangers >= kMostStrangers) continue;  // a member will try again
      const int one = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      Connection& connection =
          connections_.emplace_back(std::move(fd), terms_, Clock::now() + kStrangerLimit);
      connection.queue(connection.caller.greeting());
    }
  }

  void serve(Connection& connection) {
    connection.flush();
    if (connection.rank < 0) {
      listen_to_caller(connection);
      return;
    }
    std::array<std::byte, 65536> buffer;
    while (!connection.dead) {
      const auto bytes = connection.receive(buffer);
      if (bytes.empty()) return;
      connection.reader.append(bytes);
      bool broken = false;
      while (auto frame = connection.reader.next(broken))
        broken = broken || !handle(connection, *frame);
      if (broken) connection.dead = true;
    }
  }

  void listen_to_caller(Connection& connection) {
    std::array<std::byte, kHelloBytes> buffer;
    if (connection.closing) {
      // It has its answer. What it still says is read, so that closing does not take the answer
      // back.
      (void)connection.receive(buffer);
      return;
    }
    const auto bytes = connection.receive(std::span(buffer).first(connection.caller.wanted()));
    if (bytes.empty()) return;
    switch (connection.caller.hear(bytes)) {
      case Caller::State::listening:
        return;
      case Caller::State::stranger:
        connection.dead = true;
        return;
      case Caller::State::refused:
        connection.queue(connection.caller.answer());
        shutdown(connection.fd(), SHUT_WR);
        connection.closing = true;
        return;
      case Caller::State::welcome:
        admit(connection);
        return;
    }
  }

  void admit(Connection& connection) {
    const Hello& hello = connection.caller.hello();
    connection.rank = hello.rank;
    connection.label = hello.label;
    seats_[static_cast<std::size_t>(hello.rank)] = {hello.label, true, false};
    sys::watch_liveness(connection.fd(), options_.liveness);
    connection.queue(connection.caller.answer());
    if (hello.process == process_token() && (hub_rank_ < 0 || hello.rank < hub_rank_)) {
      hub_rank_ = hello.rank;
      to_all(frame(FrameKind::hub_rank, encode_rank(hub_rank_)));
    } else if (hub_rank_ >= 0) {
      connection.queue(frame(FrameKind::hub_rank, encode_rank(hub_rank_)));
    }
    if (verdict_) connection.queue(frame(FrameKind::notice, encode(*verdict_)));
  }

  [[nodiscard]] std::optional<std::string> taken(int rank) const {
    const Seat& seat = seats_[static_cast<std::size_t>(rank)];
    if (!seat.joined) return std::nullopt;
    return fmt::format("rank {} has joined already ({})", rank, seat.label);
  }

  /// False if the member does not keep to the protocol.
  bool handle(Connection& connection, const FrameReader::Frame& received) {
    switch (received.kind) {
      case FrameKind::gather: {
        auto part = decode_part(received.payload);
        if (!part || part->bytes.size() > part_limit(options_.size) ||
            !gather_.bring(connection.rank, *std::move(part))) {
          return false;
        }
        if (!gather_limit_) gather_limit_ = Clock::now() + options_.startup_timeout;
        look_at_gather();
        return true;
      }
      case FrameKind::failed: {
        auto notice = decode_notice(received.payload);
        if (!notice) return false;
        notice->kind = NoticeKind::failed;
        notice->rank = connection.rank;
        if (verdict_) {
          connection.queue(frame(FrameKind::notice, encode(*verdict_)));
        } else {
          spread(*notice);
        }
        return true;
      }
      case FrameKind::leave:
        connection.left = true;
        seats_[static_cast<std::size_t>(connection.rank)].left = true;
        spread({NoticeKind::left, connection.rank, StatusCode::peer_lost,
                fmt::format("rank {} ({}) has left", connection.rank, connection.label)});
        if (gather_.pending()) look_at_gather();
        return true;
      case FrameKind::gathered:
      case FrameKind::notice:
      case FrameKind::hub_rank:
      case FrameKind::closing:
        return false;
    }
    return false;
  }

  void look_at_gather() {
    if (const auto stray = gather_.stray()) {
      fail(
          StatusCode::mismatch, *stray,
          fmt::format("rank {} is in step '{}' while others are in step '{}'; run the same program "
                      "and version on all ranks",
                      *stray, gather_.step_of(*stray), gather_.step()));
      return;
    }
    if (gather_.complete()) {
      to_all(frame(FrameKind::gathered, encode(gather_.take())));
      gather_limit_.reset();
      return;
    }
    for (const int rank : gather_.missing()) {
      const Seat& seat = seats_[static_cast<std::size_t>(rank)];
      if (!seat.left) continue;
      fail(
          StatusCode::peer_lost, rank,
          fmt::format("rank {} ({}) left while others wait for it in step '{}'; look at its output",
                      rank, seat.label, gather_.step()));
      return;
    }
  }

  void check_deadlines() {
    const auto now = Clock::now();
    for (Connection& connection : connections_) {
      if (connection.rank < 0 && now >= connection.limit) connection.dead = true;
    }
    if (!gather_limit_ || now < *gather_limit_) return;
    gather_limit_.reset();
    std::vector<std::string> absent;
    std::vector<std::string> late;
    for (const int rank : gather_.missing()) {
      const Seat& seat = seats_[static_cast<std::size_t>(rank)];
      (seat.joined ? late : absent)
          .push_back(seat.joined ? fmt::format("{} ({})", rank, seat.label) : std::to_string(rank));
    }
    const auto& named = absent.empty() ? late : absent;
    fail(StatusCode::timeout, gather_.missing().front(),
         fmt::format("rank {} {} within {} s; look at its output", fmt::join(named, " and rank "),
                     absent.empty() ? fmt::format("did not reach step '{}'", gather_.step())
                                    : std::string("did not join"),
                     std::chrono::duration<double>(options_.startup_timeout).count()));
  }

  void fail(StatusCode code, int rank, std::string text) {
    if (!verdict_) spread({NoticeKind::failed, rank, code, std::move(text)});
  }

  void spread(const Notice& notice) {
    if (notice.kind != NoticeKind::left) verdict_ = notice;
    to_all(frame(FrameKind::notice, encode(notice)));
  }

  void to_all(const Bytes& bytes) {
    for (Connection& connection : connections_) {
      if (connection.is_member()) connection.queue(bytes);
    }
  }

  /// Removes dead connections; a member that goes without goodbye has died.
  void bury() {
    std::vector<Notice> deaths;
    connections_.remove_if([&](const Connection& connection) {
      if (!connection.dead) return false;
      if (connection.rank >= 0 && !connection.left) {
        deaths.push_back(
            {NoticeKind::died, connection.rank, StatusCode::peer_lost,
             fmt::format("rank {} ({}) lost its connection to the root: its process ended or "
                         "was killed, or its host is gone; look at its output, then start "
                         "all ranks again",
                         connection.rank, connection.label)});
      }
      return true;
    });
    for (const Notice& death : deaths) {
      if (!verdict_) spread(death);
    }
  }

  /// Those who are still here must not take the end of this process's hub for its death.
  void close_in_order() {
    to_all(frame(FrameKind::closing, {}));
    const auto end = Clock::now() + kLastWords;
    const auto unsent = [](const Connection& c) { return c.is_member() && c.has_output(); };
    while (std::any_of(connections_.begin(), connections_.end(), unsent) && Clock::now() < end) {
      poll(nullptr, 0, 5);
      for (Connection& connection : connections_) connection.flush();
    }
    for (const Connection& connection : connections_) shutdown(connection.fd(), SHUT_WR);
  }

  RootOptions options_;
  Terms terms_;
  sys::Fd listen_;
  std::uint16_t port_;
  sys::Fd wake_;
  std::list<Connection> connections_;
  Gather gather_;
  std::vector<Seat> seats_;
  std::optional<Clock::time_point> gather_limit_;
  std::optional<Clock::time_point> accept_again_;
  std::optional<Notice> verdict_;
  int hub_rank_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<Root>> Root::start(const RootOptions& options) {
  RootOptions actual = options;
  if (actual.bind_host.empty()) actual.bind_host = "127.0.0.1";
  if (actual.size < 1) {
    return {StatusCode::invalid_argument, fmt::format("a root for {} ranks", actual.size)};
  }
  if (actual.group.size() >= kNameBytes) {
    return {StatusCode::invalid_setting, fmt::format("SIRCL_GROUP has {} letters; {} at most",
                                                     actual.group.size(), kNameBytes - 1)};
  }
  if (actual.secret.empty() && sys::is_wildcard(actual.bind_host)) {
    return {StatusCode::invalid_setting,
            fmt::format("without a secret the root does not listen on all interfaces ({}); set "
                        "SIRCL_SECRET_FILE, or name one address",
                        actual.bind_host)};
  }
  auto listening = sys::listen_on(actual.bind_host, actual.port, actual.port_last);
  if (!listening) return listening.status();
  return std::unique_ptr<Root>(std::make_unique<RootImpl>(actual, *std::move(listening)));
}

}  // namespace sircl::bootstrap
