// Which frames from the network a TCP lane accepts, and what it says of the others.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "support/catch.hpp"
#include "transport/tcp/tcp_lane.hpp"

using namespace sircl;
using namespace sircl::transport::tcp;

namespace {

constexpr std::size_t kWindow = 1024;

Frame frame_of(std::uint32_t bytes, std::uint64_t offset, std::uint64_t flag_offset) {
  return {kFrameMagic, bytes, offset, flag_offset, 1};
}

/// A lane, and the raw other end of its socket.
struct Wire {
  Wire() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    lane = std::make_unique<TcpLane>(ends[0], 5, kWindow);
    peer = ends[1];
  }
  ~Wire() { close(peer); }
  void say(const void* bytes, std::size_t size) const {
    REQUIRE(send(peer, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
  }
  std::uint64_t flag(std::uint64_t offset) {
    return transport::flag_at(lane->window(), offset).load();
  }
  std::unique_ptr<TcpLane> lane;
  int peer = -1;
};

}  // namespace

TEST_CASE("a frame must lie in the window, with an aligned flag") {
  CHECK(valid(frame_of(0, 0, 0), kWindow));
  CHECK(valid(frame_of(kWindow, 0, kWindow - 8), kWindow));
  CHECK(valid(frame_of(0, kWindow, 0), kWindow));
  CHECK(valid(frame_of(1, kWindow - 1, 8), kWindow));
  CHECK_FALSE(valid(frame_of(kWindow + 1, 0, 0), kWindow));
  CHECK_FALSE(valid(frame_of(1, kWindow, 0), kWindow));
  CHECK_FALSE(valid(frame_of(0, kWindow + 1, 0), kWindow));
  CHECK_FALSE(valid(frame_of(16, ~std::uint64_t{0} - 7, 0), kWindow));  // the sum wraps
  CHECK_FALSE(valid(frame_of(0xFFFFFFFF, 0, 0), kWindow));
  CHECK_FALSE(valid(frame_of(0, 0, kWindow), kWindow));
  CHECK_FALSE(valid(frame_of(0, 0, kWindow - 4), kWindow));
  CHECK_FALSE(valid(frame_of(0, 0, 4), kWindow));
  CHECK_FALSE(valid(frame_of(0, 0, ~std::uint64_t{0} - 7), kWindow));
  Frame other = frame_of(0, 0, 0);
  other.magic ^= 1;
  CHECK_FALSE(valid(other, kWindow));
}

TEST_CASE("a malformed frame ends the lane with a text that names the rank, for good") {
  Wire wire;
  const Frame good = frame_of(0, 0, 8);
  const Frame bad = frame_of(0, 0, kWindow);
  wire.say(&good, sizeof good);
  wire.say(&bad, sizeof bad);
  wire.say(&good, sizeof good);
  (void)wire.lane->progress();
  CHECK(wire.flag(8) == 1);
  CHECK(wire.lane->failed());
  CHECK(wire.lane->status().code() == StatusCode::peer_lost);
  CHECK(wire.lane->status().message() == "the connection to rank 5 carried a malformed frame");
  close(wire.peer);
  wire.peer = -1;
  CHECK_FALSE(wire.lane->progress());
  CHECK(wire.lane->status().message() == "the connection to rank 5 carried a malformed frame");
}

TEST_CASE("frames may come byte by byte, and no flag is seen early") {
  Wire wire;
  struct {
    Frame frame = frame_of(100, 200, 16);
    std::array<std::byte, 100> body;
  } message;
  message.body.fill(std::byte{0x7E});
  const auto* bytes = reinterpret_cast<const std::byte*>(&message);
  const std::size_t size = sizeof(Frame) + message.body.size();
  for (std::size_t i = 0; i < size; ++i) {
    REQUIRE(wire.flag(16) == 0);
    wire.say(bytes + i, 1);
    CHECK(wire.lane->progress());
  }
  CHECK(wire.flag(16) == 1);
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(wire.lane->window()[200 + i] == std::byte{0x7E});
}

TEST_CASE("an end in the middle of a frame is a lost peer, and its flag is never seen") {
  Wire wire;
  const Frame half = frame_of(100, 200, 16);
  wire.say(&half, sizeof half);
  shutdown(wire.peer, SHUT_WR);
  while (wire.lane->progress()) {
  }
  CHECK(wire.lane->status().message() == "the connection to rank 5 was closed by the other side");
  CHECK(wire.flag(16) == 0);
}
