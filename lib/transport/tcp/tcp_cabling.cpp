#include "transport/tcp/tcp_cabling.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "sys/fd.hpp"
#include "transport/tcp/tcp_lane.hpp"

namespace sircl::transport::tcp {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// First bytes of every connection, from the side that calls; strangers do not know the token.
struct Hello {
  std::uint32_t magic = 0x4C435253;  // "SRCL"
  std::uint32_t byte_order = 0x01020304;
  std::int32_t rank = -1;
  std::uint32_t reserved = 0;
  std::array<std::byte, 16> token{};
};
static_assert(sizeof(Hello) == 32);

constexpr milliseconds kHelloLimit{5000};
constexpr milliseconds kCallLimit{1500};
constexpr milliseconds kPause{150};         ///< between two calls
constexpr std::size_t kIncomingLimit = 64;  ///< half-known callers of one lane
constexpr unsigned kSilenceMs = 3000;       ///< unanswered bytes for so long: the lane is lost

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// `host` is numeric.
Address address_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Address address;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

/// A socket that only uses the lane's interface. Where the kernel does not let us say so, the
/// address has to do.
sys::Fd bound_socket(const LaneSpec& spec) {
  const Address local = address_of(spec.local, 0);
  sys::Fd fd(socket(local.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fd;
  (void)setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, spec.interface.c_str(),
                   static_cast<socklen_t>(spec.interface.size()));
  if (bind(fd.get(), local.get(), local.size) != 0) return {};
  return fd;
}

void tune(int fd) {
  const int one = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kSilenceMs, sizeof kSilenceMs);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

class CablingImpl final : public Cabling {
 public:
  CablingImpl(const CablingOptions& options, std::vector<LaneSpec> specs)
      : options_(options),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (LaneSpec& spec : specs) {
      Link link;
      link.lane = std::make_unique<TcpLane>(-1, spec.name, spec.window);
      link.lane->read_when_told();
      link.spec = std::move(spec);
      links_.push_back(std::move(link));
    }
    watch(wake_.get());
  }

  Status open() {
    for (Link& link : links_) {
      if (link.spec.calls) continue;
      link.listener = bound_socket(link.spec);
      if (!link.listener || ::listen(link.listener.get(), 16) != 0) {
        return {StatusCode::resource,
                fmt::format("{}: cannot listen on {} of {} ({})", link.spec.name, link.spec.local,
                            link.spec.interface, std::strerror(errno))};
      }
      watch(link.listener.get());
    }
    return {};
  }

  std::string name() const override { return "tcp"; }

  std::vector<std::string> addresses() const override {
    std::vector<std::string> ports;
    for (const Link& link : links_) {
      ports.push_back(link.listener ? std::to_string(port_of(link.listener.get())) : "");
    }
    return ports;
  }

  Status connect(std::span<const std::string> remote) override {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      Link& link = links_[i];
      if (!link.spec.calls) continue;
      const std::string& text = remote[i];
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), link.remote_port);
      if (error != std::errc() || link.remote_port == 0) {
        return {StatusCode::internal,
                fmt::format("{}: the other end announced port \"{}\"", link.spec.name, text)};
      }
    }
    const auto end = Clock::now() + options_.timeout;
    while (true) {
      tend();
      std::vector<std::string> missing;
      for (const Link& link : links_) {
        if (link.lane->failed()) missing.push_back(link.spec.name + link.trouble);
      }
      if (missing.empty()) return {};
      if (options_.cancelled && options_.cancelled()) {
        return {StatusCode::aborted, "connecting was cancelled"};
      }
      if (Clock::now() > end) {
        return {
            StatusCode::unreachable,
            fmt::format("no connection within {} s: {}; check these cables and addresses",
                        std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count(),
                        fmt::join(missing, ", "))};
      }
      wait(milliseconds(20));
    }
  }

  std::size_t size() const override { return links_.size(); }
  Lane& lane(std::size_t index) override { return *links_[index].lane; }
  const LaneSpec& spec(std::size_t index) const override { return links_[index].spec; }

  void set_seconds_per_byte(std::size_t index, double seconds) override {
    links_[index].lane->set_seconds_per_byte(seconds);
  }

  bool poll() override {
    std::array<epoll_event, 16> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    bool moved = false;
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      for (Link& link : links_) {
        if (!link.watched || link.lane->wait_fd() != fd) continue;
        link.lane->tell_readable();
        moved = link.lane->progress() || moved;
      }
    }
    for (Link& link : links_) {
      if (link.lane->output_pending()) moved = link.lane->progress() || moved;
    }
    return moved;
  }

  bool tend() override {
    const auto now = Clock::now();
    bool changed = false;
    for (Link& link : links_) changed = tend(link, now) || changed;
    return changed;
  }

  void note_link(const std::string& interface, bool up) override {
    for (Link& link : links_) {
      if (link.spec.interface != interface || link.carrier == up) continue;
      link.carrier = up;
      link.next_call = {};
      if (!up) link.lane->cut(fmt::format("has no link on {}", interface));
    }
  }

  void watch(int fd) override {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  void prepare_wait() override {
    for (Link& link : links_) {
      if (!link.watched || link.lane->output_pending() == link.wants_output) continue;
      link.wants_output = link.lane->output_pending();
      epoll_event event{};
      event.events = EPOLLIN | (link.wants_output ? EPOLLOUT : 0U);
      event.data.fd = link.lane->wait_fd();
      (void)epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.lane->wait_fd(), &event);
    }
  }

  void wait(milliseconds limit) override {
    std::array<epoll_event, 8> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(limit.count()));
    for (int i = 0; i < count; ++i) {
      if (events[static_cast<std::size_t>(i)].data.fd != wake_.get()) continue;
      std::uint64_t woken = 0;
      (void)!read(wake_.get(), &woken, sizeof woken);
    }
  }

  void wake() noexcept override {
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
  }

  void close(milliseconds limit) noexcept override {
    const auto end = Clock::now() + limit;
    for (const Link& link : links_) link.lane->close(end);
  }

 private:
  struct Incoming {
    sys::Fd fd;
    std::size_t have = 0;
    Hello hello;
    Clock::time_point limit;
  };
  struct Link {
    LaneSpec spec;
    std::unique_ptr<TcpLane> lane;
    sys::Fd listener;
    std::uint16_t remote_port = 0;
    std::vector<Incoming> incoming;
    sys::Fd calling;
    Clock::time_point call_limit;
    Clock::time_point next_call;
    std::string trouble;  ///< of the last call, for messages
    bool carrier = true;
    bool up = false;            ///< as of the last tend()
    bool watched = false;       ///< the lane's descriptor is in the epoll set
    bool wants_output = false;  ///< and for output too
  };

  bool tend(Link& link, Clock::time_point now) {
    if (link.lane->failed() && link.watched) {
      // At once, for a closed connection would always be ready.
      (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.lane->wait_fd(), nullptr);
      link.watched = false;
    }
    if (link.listener) admit(link, now);
    if (link.spec.calls && link.remote_port != 0 && link.lane->failed()) call(link, now);
    const bool up = !link.lane->failed();
    return std::exchange(link.up, up) != up;
  }

  void adopt(Link& link, sys::Fd fd) {
    tune(fd.get());
    if (link.watched) (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.lane->wait_fd(), nullptr);
    link.lane->replace(fd.release());
    watch(link.lane->wait_fd());
    link.watched = true;
    link.wants_output = false;
  }

  void call(Link& link, Clock::time_point now) {
    const auto fail = [&](int error) {
      link.trouble = fmt::format(" ({})", std::strerror(error));
      link.calling = {};
      link.next_call = now + kPause;
    };
    if (!link.calling) {
      if (!link.carrier || now < link.next_call) return;
      link.calling = bound_socket(link.spec);
      if (!link.calling) return fail(errno);
      link.call_limit = now + kCallLimit;
      const Address remote = address_of(link.spec.remote, link.remote_port);
      if (::connect(link.calling.get(), remote.get(), remote.size) != 0 && errno != EINPROGRESS) {
        return fail(errno);
      }
    }
    pollfd polled{link.calling.get(), POLLOUT, 0};
    if (::poll(&polled, 1, 0) == 0) {
      if (now > link.call_limit) fail(ETIMEDOUT);
      return;
    }
    int error = 0;
    socklen_t size = sizeof error;
    (void)getsockopt(link.calling.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return fail(error);
    const Hello hello{.rank = options_.rank, .token = options_.token};
    if (send(link.calling.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
      return fail(errno);
    }
    adopt(link, std::move(link.calling));
  }

  void admit(Link& link, Clock::time_point now) {
    while (true) {
      sys::Fd fd(accept4(link.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd) break;
      // More than so many are strangers; the oldest has had its time.
      if (link.incoming.size() == kIncomingLimit) link.incoming.erase(link.incoming.begin());
      link.incoming.push_back({std::move(fd), 0, {}, now + kHelloLimit});
    }
    std::vector<Incoming> waiting;
    for (Incoming& incoming : link.incoming) {
      const ssize_t got =
          recv(incoming.fd.get(), reinterpret_cast<std::byte*>(&incoming.hello) + incoming.have,
               sizeof(Hello) - incoming.have, MSG_DONTWAIT);
      if (got > 0) incoming.have += static_cast<std::size_t>(got);
      const bool broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
      if (incoming.have == sizeof(Hello)) {
        if (acceptable(link, incoming.hello)) adopt(link, std::move(incoming.fd));
      } else if (!broken && now < incoming.limit) {
        waiting.push_back(std::move(incoming));
      }
    }
    link.incoming = std::move(waiting);
  }

  [[nodiscard]] bool acceptable(const Link& link, const Hello& hello) const {
    const Hello expected;
    return hello.magic == expected.magic && hello.byte_order == expected.byte_order &&
           hello.token == options_.token && hello.rank == link.spec.peer;
  }

  CablingOptions options_;
  sys::Fd epoll_;
  sys::Fd wake_;
  std::vector<Link> links_;
};

}  // namespace

Result<std::unique_ptr<Cabling>> listen_on_cables(const CablingOptions& options,
                                                  std::vector<LaneSpec> lanes) {
  auto cabling = std::make_unique<CablingImpl>(options, std::move(lanes));
  if (Status status = cabling->open(); !status.ok()) return status;
  return std::unique_ptr<Cabling>(std::move(cabling));
}

}  // namespace sircl::transport::tcp
