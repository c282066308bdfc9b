// A rank's connection to the hub: one thread that reads, any thread that asks.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/protocol.hpp"
#include "sys/socket.hpp"

namespace sircl::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kHandshakeLimit{5000};
constexpr std::chrono::milliseconds kSendLimit{5000};
constexpr std::chrono::milliseconds kVerdictLimit{2000};

class MemberImpl final : public Member {
 public:
  MemberImpl(const JoinOptions& options, sys::Fd fd)
      : options_(options), fd_(std::move(fd)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { run(); }) {}

  ~MemberImpl() override {
    leave();
    stopping_.store(true);
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
    thread_.join();
  }

  Result<std::vector<Bytes>> all_gather(std::span<const std::byte> mine, const std::string& label) override {
    if (mine.size() > kFrameLimit / static_cast<std::size_t>(options_.size) - 16) {
      return {StatusCode::invalid_argument, fmt::format("{} bytes are too many for the management network", mine.size())};
    }
    if (!transmit(FrameKind::gather, mine)) return lost();
    std::unique_lock lock(mutex_);
    const bool answered = changed_.wait_for(lock, options_.startup_timeout, [this] { return gathered_ || verdict_; });
    if (gathered_) {
      auto parts = *std::exchange(gathered_, std::nullopt);
      return parts;
    }
    if (answered) return Status(verdict_->code, verdict_->text);
    return {StatusCode::timeout,
            fmt::format("rank {} waited {} s for the other ranks in step '{}'; see which of them is missing", options_.rank,
                        std::chrono::duration_cast<std::chrono::seconds>(options_.startup_timeout).count(), label)};
  }

  Status report_failure(const Status& mine) override {
    Notice notice{NoticeKind::failed, options_.rank, mine.code(), mine.message()};
    if (!transmit(FrameKind::failed, encode(notice))) return mine;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kVerdictLimit, [this] { return verdict_.has_value(); });
    return verdict_ ? Status(verdict_->code, verdict_->text) : mine;
  }

  void leave() override {
    if (left_.exchange(true)) return;
    (void)transmit(FrameKind::leave, {});
  }

 private:
  bool transmit(FrameKind kind, std::span<const std::byte> payload) {
    const std::lock_guard lock(send_mutex_);
    return sys::send_all(fd_.get(), frame(kind, payload), kSendLimit);
  }

  Status lost() {
    const std::lock_guard lock(mutex_);
    if (verdict_) return {verdict_->code, verdict_->text};
    return {StatusCode::peer_lost, "the connection to the root is lost"};
  }

  void run() {
    FrameReader reader;
    std::array<std::byte, 65536> buffer;
    std::array<pollfd, 2> polled = {pollfd{fd_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    while (!stopping_.load()) {
      poll(polled.data(), polled.size(), -1);
      if (polled[0].revents == 0) continue;
      const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      bool broken = got <= 0;
      if (got > 0) {
        reader.append({buffer.data(), static_cast<std::size_t>(got)});
        while (auto frame = reader.next(broken)) handle(*frame);
      }
      if (broken) {
        if (!left_.load() && !root_left_) {
          tell({NoticeKind::died, hub_rank_, StatusCode::peer_lost,
                fmt::format("rank {} lost the root at {}:{}, which lives with rank {}: that process ended or was "
                            "killed, or its host is gone; look at its output, then start all ranks again",
                            options_.rank, options_.host, options_.port, hub_rank_)});
        }
        return;
      }
    }
  }

  void handle(const FrameReader::Frame& frame) {
    switch (frame.kind) {
      case FrameKind::gathered: {
        auto parts = decode_parts(frame.payload);
        const std::lock_guard lock(mutex_);
        if (parts && parts->size() == static_cast<std::size_t>(options_.size)) gathered_ = std::move(parts);
        changed_.notify_all();
        return;
      }
      case FrameKind::notice:
        if (const auto notice = decode_notice(frame.payload)) tell(*notice);
        return;
      case FrameKind::gather:
      case FrameKind::failed:
      case FrameKind::leave:
        return;
    }
  }

  void tell(const Notice& notice) {
    if (notice.kind == NoticeKind::left) {
      if (notice.rank == hub_rank_) root_left_ = true;
    } else {
      const std::lock_guard lock(mutex_);
      if (!verdict_) verdict_ = notice;
      changed_.notify_all();
    }
    if (options_.on_notice) options_.on_notice(notice);
  }

  JoinOptions options_;
  sys::Fd fd_;
  sys::Fd wake_;
  int hub_rank_ = 0;
  bool root_left_ = false;  ///< only the reading thread uses it
  std::mutex send_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::vector<Bytes>> gathered_;
  std::optional<Notice> verdict_;
  std::atomic<bool> left_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses all of the above
};

/// One attempt. `refused` comes back for an answer that trying again cannot change.
Result<sys::Fd> attempt(const JoinOptions& options) {
  auto fd = sys::connect_to(options.host, options.port, std::chrono::seconds(2));
  if (!fd) return fd.status();
  Greeting greeting;
  if (!sys::receive_all(fd->get(), std::as_writable_bytes(std::span(&greeting, 1)), kHandshakeLimit) ||
      greeting.magic != kMagic) {
    return {StatusCode::unreachable, "what listens there is not a sircl root"};
  }
  Hello hello;
  hello.rank = options.rank;
  hello.size = options.size;
  hello.epoch = options.epoch;
  hello.process = getpid();
  hello.nonce = random_nonce();
  std::strncpy(hello.group.data(), options.group.c_str(), hello.group.size() - 1);
  std::strncpy(hello.label.data(), options.label.c_str(), hello.label.size() - 1);
  hello.mac = sign(options.secret, greeting.nonce, std::as_bytes(std::span(&hello, 1)));
  Answer answer;
  if (!sys::send_all(fd->get(), std::as_bytes(std::span(&hello, 1)), kHandshakeLimit) ||
      !sys::receive_all(fd->get(), std::as_writable_bytes(std::span(&answer, 1)), kHandshakeLimit)) {
    return {StatusCode::unreachable, "the root broke off the handshake"};
  }
  const auto body = std::as_bytes(std::span(&answer, 1)).first(offsetof(Answer, mac));
  if (answer.magic != kMagic || !equal(sign(options.secret, hello.nonce, body), answer.mac)) {
    return {StatusCode::refused, "the root does not know the secret; give all ranks the same SIRCL_SECRET or SIRCL_SECRET_FILE"};
  }
  if (answer.code != 0) {
    answer.text.back() = '\0';
    const auto code = answer.code <= static_cast<std::uint32_t>(StatusCode::internal)
                          ? static_cast<StatusCode>(answer.code)
                          : StatusCode::refused;
    return {code, answer.text.data()};
  }
  sys::watch_liveness(fd->get());
  return fd;
}

}  // namespace

Result<std::unique_ptr<Member>> Member::join(const JoinOptions& options) {
  const auto end = Clock::now() + options.startup_timeout;
  while (true) {
    auto fd = attempt(options);
    if (fd) return std::unique_ptr<Member>(std::make_unique<MemberImpl>(options, *std::move(fd)));
    if (fd.status().code() != StatusCode::unreachable) {
      return {fd.status().code(), fmt::format("rank {} was refused by the root at {}:{}: {}", options.rank, options.host,
                                              options.port, fd.status().message())};
    }
    if (options.once || Clock::now() >= end) {
      return {StatusCode::unreachable,
              fmt::format("rank {} cannot reach the root at {}:{} after {} s ({}); is rank 0 running, and is SIRCL_ROOT "
                          "(or MASTER_ADDR) an address that this host reaches?",
                          options.rank, options.host, options.port,
                          std::chrono::duration_cast<std::chrono::seconds>(options.startup_timeout).count(),
                          fd.status().message())};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace sircl::bootstrap
