#include "transport/tcp/tcp_transport.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "transport/tcp/tcp_lane.hpp"

namespace sircl::transport::tcp {
namespace {

using Clock = std::chrono::steady_clock;

/// First bytes on every connection, from the side that connects; the listening side refuses
/// strangers by it.
struct Hello {
  std::uint32_t magic = 0x4C524953;
  std::uint32_t byte_order = 0x01020304;
  std::int32_t rank = -1;
  std::uint32_t slot_bytes = 0;
  std::array<std::byte, 16> token{};
};
static_assert(sizeof(Hello) == 32);
constexpr auto kHelloDeadline = std::chrono::seconds(5);
/// Everybody listens before anybody calls, so a host that is there answers at once.
constexpr timeval kCallDeadline{.tv_sec = 20, .tv_usec = 0};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Result<Address> resolve(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0 || found == nullptr) {
    return {StatusCode::unreachable,
            fmt::format("cannot resolve '{}' ({}); set SIRCL_TCP_HOST to an address of this host",
                        host, gai_strerror(error))};
  }
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

void tune(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

class TcpTransport final : public Transport {
 public:
  TcpTransport(std::vector<std::unique_ptr<TcpLane>> lanes, const WindowShape& shape)
      : lanes_(std::move(lanes)), shape_(shape), wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (const auto& lane : lanes_) {
      if (lane) polled_.push_back({lane->wait_fd(), POLLIN, 0});
    }
    polled_.push_back({wake_fd_, POLLIN, 0});
  }
  ~TcpTransport() override { ::close(wake_fd_); }
  std::string name() const override { return "tcp"; }
  Lane* lane(int peer) noexcept override { return lanes_[static_cast<std::size_t>(peer)].get(); }
  std::size_t memory_bytes() const noexcept override {
    return (lanes_.size() - 1) * shape_.window_bytes;
  }
  void sleep(std::chrono::milliseconds limit) noexcept override {
    std::size_t index = 0;
    for (const auto& lane : lanes_) {
      if (!lane) continue;
      pollfd& entry = polled_[index++];
      entry.fd = lane->failed() ? -1 : lane->wait_fd();  // a closed one would always be ready
      entry.events = static_cast<short>(POLLIN | (lane->output_pending() ? POLLOUT : 0));
    }
    poll(polled_.data(), polled_.size(), static_cast<int>(limit.count()));
    std::uint64_t woken = 0;
    if (polled_.back().revents != 0) (void)!read(wake_fd_, &woken, sizeof woken);
  }
  void wake() noexcept override {
    const std::uint64_t one = 1;
    (void)!write(wake_fd_, &one, sizeof one);
  }
  void close(std::chrono::milliseconds limit) noexcept override {
    const auto end = Clock::now() + limit;
    for (const auto& lane : lanes_) {
      if (lane) lane->close(end);
    }
  }

 private:
  std::vector<std::unique_ptr<TcpLane>> lanes_;
  std::vector<pollfd> polled_;
  WindowShape shape_;
  int wake_fd_;
};

class TcpListenerImpl final : public TcpListener {
 public:
  TcpListenerImpl(const Parameters& parameters, int fd, std::string address)
      : parameters_(parameters), listen_fd_(fd), address_(std::move(address)) {}
  ~TcpListenerImpl() override {
    ::close(listen_fd_);
    for (const Incoming& incoming : incoming_) ::close(incoming.fd);
  }
  std::string local_address() const override { return address_; }

  Result<std::unique_ptr<Transport>> connect(const std::vector<std::string>& addresses) override {
    const auto end = Clock::now() + parameters_.timeout;
    lanes_.clear();
    lanes_.resize(static_cast<std::size_t>(parameters_.ranks));
    // Every rank calls the lower ones and is called by the higher ones. The kernel completes a call
    // to a listening socket by itself, so nobody waits for anybody here.
    for (int peer = 0; peer < parameters_.rank; ++peer) {
      if (Status status = call(peer, addresses[static_cast<std::size_t>(peer)]); !status.ok()) {
        return status;
      }
    }
    int missing = parameters_.ranks - 1 - parameters_.rank;
    while (missing > 0) {
      if (parameters_.cancelled && parameters_.cancelled()) {
        return {StatusCode::aborted, "connecting was cancelled"};
      }
      if (Clock::now() > end) {
        return {StatusCode::unreachable, missing_text(addresses)};
      }
      missing -= admit();
    }
    return std::unique_ptr<Transport>(
        std::make_unique<TcpTransport>(std::move(lanes_), parameters_.shape));
  }

 private:
  struct Incoming {
    int fd;
    std::size_t have = 0;
    Hello hello;
    Clock::time_point limit;
  };

  Status call(int peer, const std::string& where) {
    const std::size_t colon = where.rfind(':');
    auto address = resolve(where.substr(0, colon), where.substr(colon + 1));
    if (!address) return address.status();
    const int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const Hello hello{.rank = parameters_.rank,
                      .slot_bytes = parameters_.shape.slot_bytes,
                      .token = parameters_.token};
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kCallDeadline, sizeof kCallDeadline);
    if (fd < 0 ||
        ::connect(fd, reinterpret_cast<sockaddr*>(&address->storage), address->size) != 0 ||
        send(fd, &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
      const int error = errno == EINPROGRESS ? ETIMEDOUT : errno;  // the deadline passed
      if (fd >= 0) ::close(fd);
      return {StatusCode::unreachable,
              fmt::format("rank {} cannot reach rank {} at {} ({}); check the network between them "
                          "and SIRCL_TCP_HOST",
                          parameters_.rank, peer, where, std::strerror(error))};
    }
    adopt(peer, fd);
    return {};
  }

  void adopt(int peer, int fd) {
    tune(fd);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    lanes_[static_cast<std::size_t>(peer)] =
        std::make_unique<TcpLane>(fd, peer, parameters_.shape.window_bytes);
  }

  /// Serves the listening socket and half-known callers once; returns how many ranks came in.
  int admit() {
    std::vector<pollfd> polled = {{listen_fd_, POLLIN, 0}};
    for (const Incoming& incoming : incoming_) polled.push_back({incoming.fd, POLLIN, 0});
    poll(polled.data(), polled.size(), 50);
    if ((polled[0].revents & POLLIN) != 0) {
      const int fd = accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) incoming_.push_back({fd, 0, {}, Clock::now() + kHelloDeadline});
    }
    int admitted = 0;
    std::vector<Incoming> waiting;
    for (Incoming& incoming : incoming_) {
      const ssize_t got =
          recv(incoming.fd, reinterpret_cast<std::byte*>(&incoming.hello) + incoming.have,
               sizeof(Hello) - incoming.have, MSG_DONTWAIT);
      if (got > 0) incoming.have += static_cast<std::size_t>(got);
      const bool broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
      if (incoming.have == sizeof(Hello)) {
        if (acceptable(incoming.hello)) {
          adopt(incoming.hello.rank, incoming.fd);
          ++admitted;
        } else {
          ::close(incoming.fd);
        }
      } else if (broken || Clock::now() > incoming.limit) {
        ::close(incoming.fd);
      } else {
        waiting.push_back(incoming);
      }
    }
    incoming_ = std::move(waiting);
    return admitted;
  }

  [[nodiscard]] bool acceptable(const Hello& hello) const {
    const Hello expected;
    return hello.magic == expected.magic && hello.byte_order == expected.byte_order &&
           hello.token == parameters_.token && hello.slot_bytes == parameters_.shape.slot_bytes &&
           hello.rank > parameters_.rank && hello.rank < parameters_.ranks &&
           !lanes_[static_cast<std::size_t>(hello.rank)];
  }

  std::string missing_text(const std::vector<std::string>& addresses) const {
    std::string text;
    for (int peer = parameters_.rank + 1; peer < parameters_.ranks; ++peer) {
      if (lanes_[static_cast<std::size_t>(peer)]) continue;
      text += fmt::format("{}rank {} ({})", text.empty() ? "" : ", ", peer,
                          addresses[static_cast<std::size_t>(peer)]);
    }
    return fmt::format(
        "rank {} at {} was not called by {} within {} s; check the network between them",
        parameters_.rank, address_, text,
        std::chrono::duration_cast<std::chrono::seconds>(parameters_.timeout).count());
  }

  Parameters parameters_;
  int listen_fd_;
  std::string address_;
  std::vector<std::unique_ptr<TcpLane>> lanes_;
  std::vector<Incoming> incoming_;
};

}  // namespace

std::string address_towards(const std::string& host) {
  if (host.empty()) return {};
  const auto address = resolve(host, "9");  // any port: a datagram socket connects without a word
  if (!address) return {};
  const int fd = socket(address->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  sockaddr_storage mine{};
  socklen_t size = sizeof mine;
  std::array<char, NI_MAXHOST> text{};
  const bool known =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address->storage), address->size) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&mine), &size) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&mine), size, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) == 0;
  ::close(fd);
  return known ? text.data() : std::string();
}

Result<std::unique_ptr<TcpListener>> TcpListener::listen(const Parameters& parameters) {
  auto address = resolve(parameters.host, "0");
  if (!address) return address.status();
  const int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address->storage), address->size) != 0 ||
      ::listen(fd, 256) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return {StatusCode::resource,
            fmt::format("cannot listen on {} ({}); set SIRCL_TCP_HOST to an address of this host",
                        parameters.host, std::strerror(error))};
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size);
  const std::uint16_t port = bound.ss_family == AF_INET6
                                 ? ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port)
                                 : ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return std::unique_ptr<TcpListener>(std::make_unique<TcpListenerImpl>(
      parameters, fd, fmt::format("{}:{}", parameters.host, port)));
}

}  // namespace sircl::transport::tcp
