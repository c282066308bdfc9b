// Everything that a TCP lane reads from its peer, in pieces of any size, while ranges of its window
// are lent elsewhere.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "fuzz/input.hpp"
#include "transport/tcp/tcp_lane.hpp"

using namespace sircl;
using namespace sircl::transport::tcp;
using fuzz::Input;
using fuzz::require;

namespace {

constexpr std::size_t kWindow = 8192;

class Session {
 public:
  Session() {
    std::array<int, 2> ends{};
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    lane_ = std::make_unique<TcpLane>(ends[0], 3, kWindow);
    peer_ = ends[1];
  }
  ~Session() { ::close(peer_); }

  void run(Input& input) {
    while (!input.empty()) {
      step(input);
      check();
    }
    while (lane_->progress()) check();
    (void)lane_->redirect(0, {});
    lent_.reset();
    (void)lane_->progress();
    check();
  }

 private:
  void step(Input& input) {
    switch (input.byte() % 8) {
      case 0:
        say(input.take(input.byte()));
        break;
      case 1:
      case 2:
        say_frame(input);
        break;
      case 3:
      case 4:
        (void)lane_->progress();
        break;
      case 5:
        lend(input);
        break;
      case 6:
        if (lane_->can_put()) lane_->put(64, input.take(input.byte()), {}, 0, 1);
        break;
      default:
        if (input.byte() == 0) shutdown(peer_, SHUT_WR);
        break;
    }
  }

  void say(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    (void)!send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  /// A frame with a good magic and mostly plausible fields, and a body that may be too short.
  void say_frame(Input& input) {
    Frame frame;
    frame.magic = input.byte() % 16 == 0 ? input.number<std::uint32_t>() : kFrameMagic;
    frame.bytes = static_cast<std::uint32_t>(input.near(input.byte() * 40U));
    frame.offset = input.near(input.number<std::uint16_t>() % kWindow);
    frame.flag_offset = input.near(input.byte() * 8U);
    frame.flag_value = input.number<std::uint16_t>();
    say(std::as_bytes(std::span(&frame, 1)));
    const std::size_t body =
        std::min<std::size_t>(frame.bytes, input.byte() % 2 == 0 ? frame.bytes : 16);
    say(std::vector<std::byte>(std::min<std::size_t>(body, kWindow), std::byte{0x3C}));
  }

  /// The lent memory has exactly the size that the lane is told, so that one byte more is found.
  void lend(Input& input) {
    const std::size_t offset = input.number<std::uint16_t>() % kWindow;
    const std::size_t size =
        std::min<std::size_t>(input.number<std::uint16_t>() % 2048, kWindow - offset);
    auto fresh = std::make_unique<std::byte[]>(size);
    require(lane_->redirect(0, {}));
    lent_.reset();
    if (lane_->redirect(offset, {fresh.get(), size})) lent_ = std::move(fresh);
  }

  void check() {
    if (!lane_->failed()) {
      require(lane_->status().ok());
      return;
    }
    const std::string text = lane_->status().message();
    require(text.find("rank 3 ") != std::string::npos);
    if (reason_.empty()) reason_ = text;
    require(text == reason_ && !lane_->progress() && !lane_->can_put());
  }

  std::unique_ptr<TcpLane> lane_;
  int peer_ = -1;
  std::unique_ptr<std::byte[]> lent_;
  std::string reason_;  ///< of the first failure: it stays
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Session().run(input);
  return 0;
}
