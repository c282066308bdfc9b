// The hub: one thread, one poll loop, no blocking call on any connection.
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <optional>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/protocol.hpp"
#include "sys/socket.hpp"

namespace sircl::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStrangerLimit = std::chrono::seconds(2);
constexpr auto kLinger = std::chrono::seconds(2);
constexpr std::size_t kMostStrangers = 1024;

struct Connection {
  sys::Fd fd;
  Clock::time_point limit;  ///< by when a caller must have said who it is
  Nonce nonce;
  Hello hello;
  std::size_t have = 0;
  int rank = -1;  ///< once admitted
  bool left = false;
  bool closing = false;  ///< close when the output is out
  bool dead = false;
  FrameReader reader;
  Bytes output;
  std::string label;
};

class RootImpl final : public Root {
 public:
  RootImpl(const RootOptions& options, sys::Listening listening)
      : options_(options),
        listen_(std::move(listening.fd)),
        port_(listening.port),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        gathers_(static_cast<std::size_t>(options.size)),
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
  void run() {
    std::optional<Clock::time_point> end;
    while (true) {
      if (stopping_.load()) {
        if (!end) end = Clock::now() + kLinger;
        const bool members = std::any_of(connections_.begin(), connections_.end(), [](const Connection& c) {
          return c.rank >= 0 && !c.left && !c.dead;
        });
        if (!members || Clock::now() > *end) return;
      }
      std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}, {listen_.get(), POLLIN, 0}};
      std::vector<Connection*> order;
      for (Connection& connection : connections_) {
        polled.push_back({connection.fd.get(),
                          static_cast<short>(POLLIN | (connection.output.empty() ? 0 : POLLOUT)), 0});
        order.push_back(&connection);
      }
      const bool strangers = order.size() > static_cast<std::size_t>(joined_);
      poll(polled.data(), polled.size(), strangers || end ? 100 : -1);
      std::uint64_t ignored = 0;
      if (polled[0].revents != 0) (void)!read(wake_.get(), &ignored, sizeof ignored);
      if ((polled[1].revents & POLLIN) != 0) accept_all();
      for (std::size_t i = 0; i < order.size(); ++i) {
        Connection& connection = *order[i];
        if (polled[i + 2].revents != 0 && !connection.dead) serve(connection);
        if (connection.rank < 0 && Clock::now() > connection.limit) connection.dead = true;
        if (connection.closing && connection.output.empty()) connection.dead = true;
      }
      bury();
    }
  }

  void accept_all() {
    while (true) {
      sys::Fd fd(accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) return;
      if (connections_.size() - static_cast<std::size_t>(joined_) >= kMostStrangers) return;
      Connection& connection = connections_.emplace_back();
      const int one = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      connection.fd = std::move(fd);
      connection.limit = Clock::now() + kStrangerLimit;
      connection.nonce = random_nonce();
      Greeting greeting;
      greeting.nonce = connection.nonce;
      queue(connection, std::as_bytes(std::span(&greeting, 1)));
    }
  }

  void queue(Connection& connection, std::span<const std::byte> bytes) {
    connection.output.insert(connection.output.end(), bytes.begin(), bytes.end());
    flush(connection);
  }

  static void flush(Connection& connection) {
    while (!connection.output.empty()) {
      const ssize_t sent = send(connection.fd.get(), connection.output.data(), connection.output.size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) {
        if (sent < 0 && errno != EAGAIN && errno != EINTR) connection.dead = true;
        return;
      }
      connection.output.erase(connection.output.begin(), connection.output.begin() + sent);
    }
  }

  void serve(Connection& connection) {
    flush(connection);
    if (connection.rank < 0) {
      if (!connection.closing) listen_to_stranger(connection);
      return;
    }
    std::array<std::byte, 65536> buffer;
    while (!connection.dead) {
      const ssize_t got = recv(connection.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got > 0) {
        connection.reader.append({buffer.data(), static_cast<std::size_t>(got)});
        bool broken = false;
        while (auto frame = connection.reader.next(broken)) handle(connection, *frame);
        if (broken) connection.dead = true;
        continue;
      }
      if (got < 0 && errno == EINTR) continue;
      if (got == 0 || errno != EAGAIN) connection.dead = true;
      return;
    }
  }

  void listen_to_stranger(Connection& connection) {
    auto* at = reinterpret_cast<std::byte*>(&connection.hello) + connection.have;
    const ssize_t got = recv(connection.fd.get(), at, sizeof(Hello) - connection.have, MSG_DONTWAIT);
    if (got <= 0) {
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) connection.dead = true;
      return;
    }
    connection.have += static_cast<std::size_t>(got);
    if (connection.have >= 4 && connection.hello.magic != kMagic) connection.dead = true;
    if (connection.have < sizeof(Hello) || connection.dead) return;

    const Status verdict = judge(connection);
    Answer answer;
    answer.code = static_cast<std::uint32_t>(verdict.code());
    std::strncpy(answer.text.data(), verdict.message().c_str(), answer.text.size() - 1);
    const auto body = std::as_bytes(std::span(&answer, 1)).first(offsetof(Answer, mac));
    answer.mac = sign(options_.secret, connection.hello.nonce, body);
    queue(connection, std::as_bytes(std::span(&answer, 1)));
    if (!verdict.ok()) {
      connection.closing = true;
      return;
    }
    connection.rank = connection.hello.rank;
    connection.label.assign(connection.hello.label.data(),
                            strnlen(connection.hello.label.data(), connection.hello.label.size()));
    sys::watch_liveness(connection.fd.get());
    ++joined_;
    if (verdict_) queue(connection, frame(FrameKind::notice, encode(*verdict_)));
  }

  Status judge(const Connection& connection) const {
    const Hello& hello = connection.hello;
    Hello unsigned_hello = hello;
    unsigned_hello.mac = {};
    if (!equal(sign(options_.secret, connection.nonce, std::as_bytes(std::span(&unsigned_hello, 1))), hello.mac)) {
      return {StatusCode::refused, "the secret differs; give all ranks the same SIRCL_SECRET or SIRCL_SECRET_FILE"};
    }
    if (hello.version != kVersion) {
      return {StatusCode::refused, fmt::format("the root speaks protocol {}, this rank {}; use one version of sircl", kVersion, hello.version)};
    }
    if (std::string(hello.group.data(), strnlen(hello.group.data(), hello.group.size())) != options_.group) {
      return {StatusCode::refused, "another group meets here; check SIRCL_ROOT and SIRCL_GROUP"};
    }
    if (hello.epoch != options_.epoch) {
      return {StatusCode::refused, fmt::format("the root is in epoch {}, this rank in epoch {}", options_.epoch, hello.epoch)};
    }
    if (hello.size != options_.size) {
      return {StatusCode::mismatch, fmt::format("the root waits for {} ranks, this rank was told {}; give all the same SIRCL_SIZE", options_.size, hello.size)};
    }
    if (hello.rank < 0 || hello.rank >= options_.size) {
      return {StatusCode::invalid_setting, fmt::format("rank {} is not from 0 to {}", hello.rank, options_.size - 1)};
    }
    for (const Connection& other : connections_) {
      if (other.rank == hello.rank) {
        return {StatusCode::mismatch, fmt::format("rank {} has joined already ({}); give every process its own SIRCL_RANK", hello.rank, other.label)};
      }
    }
    return {};
  }

  void handle(Connection& connection, const FrameReader::Frame& received) {
    switch (received.kind) {
      case FrameKind::gather:
        gathers_[static_cast<std::size_t>(connection.rank)] = received.payload;
        finish_gather();
        return;
      case FrameKind::failed: {
        auto notice = decode_notice(received.payload);
        if (!notice) {
          connection.dead = true;
          return;
        }
        notice->kind = NoticeKind::failed;
        notice->rank = connection.rank;
        if (verdict_) {
          queue(connection, frame(FrameKind::notice, encode(*verdict_)));
        } else {
          spread(*notice);
        }
        return;
      }
      case FrameKind::leave:
        connection.left = true;
        spread({NoticeKind::left, connection.rank, StatusCode::peer_lost, ""});
        return;
      case FrameKind::gathered:
      case FrameKind::notice:
        connection.dead = true;
        return;
    }
  }

  void finish_gather() {
    std::vector<Bytes> parts;
    for (const auto& gather : gathers_) {
      if (!gather) return;
      parts.push_back(*gather);
    }
    for (auto& gather : gathers_) gather.reset();
    const Bytes bytes = frame(FrameKind::gathered, encode(parts));
    for (Connection& connection : connections_) {
      if (connection.rank >= 0) queue(connection, bytes);
    }
  }

  void spread(const Notice& notice) {
    if (notice.kind != NoticeKind::left) verdict_ = notice;
    const Bytes bytes = frame(FrameKind::notice, encode(notice));
    for (Connection& connection : connections_) {
      if (connection.rank >= 0 && !connection.dead) queue(connection, bytes);
    }
  }

  void bury() {
    for (auto connection = connections_.begin(); connection != connections_.end();) {
      if (!connection->dead) {
        ++connection;
        continue;
      }
      const int rank = connection->rank;
      const bool left = connection->left;
      const std::string label = connection->label;
      connection = connections_.erase(connection);
      if (rank < 0) continue;
      --joined_;
      if (left || verdict_) continue;
      spread({NoticeKind::died, rank, StatusCode::peer_lost,
              fmt::format("rank {} ({}) lost its connection to the root: its process ended or was killed, or its "
                          "host is gone; look at its output, then start all ranks again",
                          rank, label)});
      connection = connections_.begin();
    }
  }

  RootOptions options_;
  sys::Fd listen_;
  std::uint16_t port_;
  sys::Fd wake_;
  std::list<Connection> connections_;
  int joined_ = 0;
  std::vector<std::optional<Bytes>> gathers_;
  std::optional<Notice> verdict_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<Root>> Root::start(const RootOptions& options) {
  RootOptions actual = options;
  if (actual.bind_host.empty()) actual.bind_host = "127.0.0.1";
  auto listening = sys::listen_on(actual.bind_host, actual.port, actual.port_last);
  if (!listening) return listening.status();
  return std::unique_ptr<Root>(std::make_unique<RootImpl>(actual, *std::move(listening)));
}

}  // namespace sircl::bootstrap
