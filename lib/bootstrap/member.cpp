// A rank's connection to the hub: one thread that reads, any thread that asks.
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/log.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/protocol.hpp"
#include "sys/socket.hpp"

namespace sircl::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kConnectLimit{2000};
constexpr std::chrono::milliseconds kHandshakeLimit{5000};
constexpr std::chrono::milliseconds kAnswerLimit{30'000};
constexpr std::chrono::milliseconds kSendLimit{5000};
constexpr std::chrono::milliseconds kVerdictLimit{2000};
constexpr std::chrono::milliseconds kHubsTurn{
    5000};  // the hub's own limit ends first and names who is missing
constexpr std::chrono::milliseconds kFirstRetry{20};
constexpr std::chrono::milliseconds kLastRetry{250};
constexpr std::chrono::seconds kPatience{10};  // then a line says what is being waited for

double seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

class MemberImpl final : public Member {
 public:
  MemberImpl(const JoinOptions& options, sys::Fd fd)
      : options_(options),
        fd_(std::move(fd)),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { run(); }) {}

  ~MemberImpl() override {
    leave();
    stopping_.store(true);
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof one);
    thread_.join();
  }

  Result<std::vector<Bytes>> all_gather(std::span<const std::byte> mine,
                                        const std::string& label) override {
    if (mine.size() > part_limit(options_.size)) {
      return {StatusCode::invalid_argument,
              fmt::format("{} bytes are too many for the management network ({} at most)",
                          mine.size(), part_limit(options_.size))};
    }
    const bool sent = transmit(FrameKind::gather, encode_part(label, mine));
    std::unique_lock lock(mutex_);
    // A failed send means that the reading thread is about to see the end, and perhaps the verdict
    // before.
    const auto limit = sent ? options_.startup_timeout + kHubsTurn : kVerdictLimit;
    changed_.wait_for(lock, limit, [this] { return gathered_ || verdict_ || closed_; });
    if (gathered_) {
      auto parts = *std::exchange(gathered_, std::nullopt);
      return parts;
    }
    if (verdict_) return Status(verdict_->code, verdict_->text);
    if (closed_ || !sent) {
      return {StatusCode::peer_lost,
              fmt::format("rank {} has no root at {} any more: its process is done; all ranks must "
                          "make the same calls",
                          options_.rank, sys::with_port(options_.host, options_.port))};
    }
    return {
        StatusCode::timeout,
        fmt::format("rank {} had no answer from the root at {} in step '{}' within {} s; is the "
                    "root's process stopped?",
                    options_.rank, sys::with_port(options_.host, options_.port), label,
                    seconds(options_.startup_timeout))};
  }

  Status report_failure(const Status& mine) override {
    const Notice notice{NoticeKind::failed, options_.rank, mine.code(), mine.message()};
    const bool sent = transmit(FrameKind::failed, encode(notice));
    std::unique_lock lock(mutex_);
    if (sent) {
      changed_.wait_for(lock, kVerdictLimit, [this] { return verdict_ || closed_; });
    }
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
        while (auto frame = reader.next(broken)) broken = broken || !handle(*frame);
      }
      if (broken) {
        end_of_hub();
        return;
      }
    }
  }

  void end_of_hub() {
    if (!left_.load() && !closing_) {
      const std::string host =
          hub_rank_ >= 0 ? fmt::format(", which lives with rank {}", hub_rank_) : std::string();
      tell({NoticeKind::died, hub_rank_, StatusCode::peer_lost,
            fmt::format(
                "rank {} lost the root at {}{}: that process ended or was killed, or its host "
                "is gone; look at its output, then start all ranks again",
                options_.rank, sys::with_port(options_.host, options_.port), host)});
    }
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  /// False if the hub does not keep to the protocol.
  bool handle(const FrameReader::Frame& frame) {
    switch (frame.kind) {
      case FrameKind::gathered: {
        auto parts = decode_parts(frame.payload);
        if (!parts || parts->size() != static_cast<std::size_t>(options_.size)) return false;
        const std::lock_guard lock(mutex_);
        gathered_ = std::move(parts);
        changed_.notify_all();
        return true;
      }
      case FrameKind::notice: {
        const auto notice = decode_notice(frame.payload);
        if (notice) tell(*notice);
        return notice.has_value();
      }
      case FrameKind::hub_rank: {
        const auto rank = decode_rank(frame.payload);
        if (rank) hub_rank_ = *rank;
        return rank.has_value();
      }
      case FrameKind::closing:
        closing_ = true;
        return true;
      case FrameKind::gather:
      case FrameKind::failed:
      case FrameKind::leave:
        return false;
    }
    return false;
  }

  void tell(const Notice& notice) {
    if (notice.kind == NoticeKind::left) {
      // Its process may end from now on, and the hub with it.
      if (notice.rank == hub_rank_) closing_ = true;
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
  int hub_rank_ = -1;     ///< only the reading thread uses it
  bool closing_ = false;  ///< only the reading thread uses it: the hub may end without a death
  std::mutex send_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::vector<Bytes>> gathered_;
  std::optional<Notice> verdict_;
  bool closed_ = false;
  std::atomic<bool> left_{false};
  std::atomic<bool> stopping_{false};
  std::thread thread_;  // last: it uses all of the above
};

/// How an attempt ended, if not well: whether trying again can change that.
struct Attempt {
  sys::Fd fd;
  Status status;
  bool final = false;
  bool other_group = false;
};

Attempt not_yet(std::string why) { return {{}, Status(StatusCode::unreachable, std::move(why))}; }

Attempt handshake(const JoinOptions& options, sys::Fd fd, std::chrono::milliseconds limit,
                  std::chrono::milliseconds answer_limit) {
  Bytes heard(kGreetingBytes);
  if (!sys::receive_all(fd.get(), heard, limit)) return not_yet("what listens there says nothing");
  const auto version = version_of(heard);
  if (!version) return not_yet("what listens there is not a sircl root");
  const auto greeting = decode_greeting(heard);
  if (*version == kVersion && greeting->mark != group_mark(options.group, greeting->nonce)) {
    return {
        {},
        Status(StatusCode::refused, "another group meets there; check SIRCL_ROOT and SIRCL_GROUP"),
        true,
        true};
  }
  Hello hello;
  hello.rank = options.rank;
  hello.size = options.size;
  hello.epoch = options.epoch;
  hello.group = options.group;
  hello.label = options.label;
  hello.process = process_token();
  hello.nonce = random_nonce();
  heard.resize(kAnswerBytes);
  // From here on the hub may have taken this rank in, so giving up early would look like a death.
  if (!sys::send_all(fd.get(), encode(hello, options.secret, greeting->nonce), limit) ||
      !sys::receive_all(fd.get(), heard, answer_limit)) {
    return not_yet("the root broke off the handshake");
  }
  const auto answer = decode_answer(heard, options.secret, hello.nonce);
  if (!answer) return not_yet("the root's answer makes no sense");
  if (answer->answer.code == StatusCode::ok && !answer->proved) {
    return {{},
            Status(StatusCode::refused,
                   "the root does not know the secret; give all ranks the same SIRCL_SECRET or "
                   "SIRCL_SECRET_FILE"),
            true};
  }
  // A refusal need not be proved: it may say that the secrets differ.
  if (answer->answer.code != StatusCode::ok) {
    return {{}, Status(answer->answer.code, answer->answer.text), true};
  }
  sys::watch_liveness(fd.get(), options.liveness);
  return {std::move(fd), {}};
}

Attempt attempt(const JoinOptions& options, std::chrono::milliseconds left) {
  const auto within = [left](std::chrono::milliseconds limit) {
    return std::clamp(left, std::chrono::milliseconds(50), limit);
  };
  auto fd = sys::connect_to(options.host, options.port, within(kConnectLimit));
  if (!fd) return not_yet(fd.status().message());
  return handshake(options, *std::move(fd), within(options.once ? kConnectLimit : kHandshakeLimit),
                   within(kAnswerLimit));
}

}  // namespace

Result<std::unique_ptr<Member>> Member::join(const JoinOptions& options) {
  const auto start = Clock::now();
  const auto end = start + options.startup_timeout;
  const std::string where = sys::with_port(options.host, options.port);
  bool told = false;
  for (auto pause = kFirstRetry;; pause = std::min(pause * 2, kLastRetry)) {
    Attempt made =
        attempt(options, std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
    if (made.fd) {
      return std::unique_ptr<Member>(std::make_unique<MemberImpl>(options, std::move(made.fd)));
    }
    if (made.final && !(options.once && made.other_group)) {
      return {made.status.code(), fmt::format("rank {} was refused by the root at {}: {}",
                                              options.rank, where, made.status.message())};
    }
    const auto now = Clock::now();
    if (options.once || now + pause >= end) {
      return {
          StatusCode::unreachable,
          fmt::format(
              "rank {} cannot reach the root at {} after {:.1f} s ({}); is rank 0 running, and is "
              "SIRCL_ROOT (or MASTER_ADDR) an address that this host reaches?",
              options.rank, where, std::chrono::duration<double>(now - start).count(),
              made.status.message())};
    }
    if (!told && now - start > kPatience) {
      told = true;
      log::warn(fmt::format("rank {} still tries to reach the root at {} ({})", options.rank, where,
                            made.status.message()));
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace sircl::bootstrap
