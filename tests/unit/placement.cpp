// Payloads that arrive straight in the memory where they are wanted: Channel::expect over TCP.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "cable/channel.hpp"
#include "support/catch.hpp"
#include "transport/tcp/tcp_lane.hpp"

namespace sircl::cable {
namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kSlotBytes = 3000;

/// A sending and a receiving channel, and a wire between them that is moved by hand.
class Wire {
 public:
  Wire() {
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, out_.data()) == 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, in_.data()) == 0);
    const auto shape = window_shape(kSlots, kSlotBytes);
    sender_ = std::make_unique<transport::tcp::TcpLane>(out_[0], 1, shape.window_bytes);
    receiver_ = std::make_unique<transport::tcp::TcpLane>(in_[0], 0, shape.window_bytes);
    from = Channel(sender_.get(), shape, ChannelUse::collective);
    to = Channel(receiver_.get(), shape, ChannelUse::collective);
  }
  ~Wire() {
    close(out_[1]);
    close(in_[1]);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void send(std::uint32_t stream, const std::vector<std::byte>& payload) {
    REQUIRE(from.can_send());
    from.send({}, stream, payload.size(), payload);
    std::array<std::byte, 16384> buffer;
    const ssize_t got = recv(out_[1], buffer.data(), buffer.size(), MSG_DONTWAIT);
    REQUIRE(got > 0);
    on_wire_.insert(on_wire_.end(), buffer.data(), buffer.data() + got);
  }
  /// Lets at most `bytes` bytes arrive.
  void arrive(std::size_t bytes) {
    bytes = std::min(bytes, on_wire_.size());
    REQUIRE(write(in_[1], on_wire_.data(), bytes) == static_cast<ssize_t>(bytes));
    on_wire_.erase(on_wire_.begin(), on_wire_.begin() + static_cast<std::ptrdiff_t>(bytes));
    receiver_->progress();
  }
  /// Carries credits back.
  void return_credits() {
    std::array<std::byte, 4096> buffer;
    ssize_t got = 0;
    while ((got = recv(in_[1], buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
      REQUIRE(write(out_[1], buffer.data(), static_cast<std::size_t>(got)) == got);
    }
    sender_->progress();
  }
  [[nodiscard]] std::size_t on_wire() const { return on_wire_.size(); }

  Channel from;
  Channel to;

 private:
  std::array<int, 2> out_{};
  std::array<int, 2> in_{};
  std::unique_ptr<transport::tcp::TcpLane> sender_;
  std::unique_ptr<transport::tcp::TcpLane> receiver_;
  std::vector<std::byte> on_wire_;
};

std::vector<std::byte> bytes_of(std::size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(static_cast<std::size_t>(seed) * 37 + i * 11);
  }
  return bytes;
}

std::vector<std::byte> payload_of(const Channel::Message& message) {
  return {message.payload, message.payload + message.header->bytes};
}

}  // namespace

TEST_CASE("an expected payload lies where it was wanted") {
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
    Wire wire;
    for (int round = 0; round < 10; ++round) {
      const auto sent = bytes_of(kSlotBytes, round);
      std::vector<std::byte> wanted(kSlotBytes + 8);
      wire.to.expect(3, std::span(wanted).first(kSlotBytes));
      wire.send(3, sent);
      while (wire.on_wire() > 0) wire.arrive(at_once);
      const auto message = wire.to.front(3);
      REQUIRE(message);
      CHECK(message.payload == wanted.data());
      CHECK(payload_of(message) == sent);
      CHECK(wanted[kSlotBytes] == std::byte{0});
      wire.to.pop(message);
      wire.return_credits();
    }
  }
}

TEST_CASE("another stream's payload, or one of another size, goes to its slot") {
  for (const std::size_t size : {std::size_t{100}, std::size_t{2000}, std::size_t{3000}}) {
    Wire wire;
    std::vector<std::byte> wanted(2000);
    wire.to.expect(3, wanted);
    const auto other = bytes_of(size, 1);
    wire.send(size == 2000 ? 4 : 3, other);
    while (wire.on_wire() > 0) wire.arrive(64);
    const auto message = wire.to.front(size == 2000 ? 4 : 3);
    REQUIRE(message);
    CHECK(message.payload != wanted.data());
    CHECK(payload_of(message) == other);
    wanted.assign(wanted.size(), std::byte{9});
    CHECK(payload_of(message) == other);  // nothing of it is left there
  }
}

TEST_CASE("nothing is touched after forget, and nothing is lost, wherever the message was cut") {
  const auto sent = bytes_of(1000, 5);
  const auto after = bytes_of(1000, 6);
  const std::size_t whole = sizeof(transport::tcp::Frame) + sizeof(SlotHeader) + 1000;
  for (std::size_t cut = 0; cut <= whole; cut += 13) {
    Wire wire;
    std::vector<std::byte> wanted(1000);
    wire.to.expect(3, wanted);
    wire.send(3, sent);
    wire.send(3, after);
    wire.arrive(cut);
    wire.to.forget();
    wanted.assign(wanted.size(), std::byte{9});
    while (wire.on_wire() > 0) wire.arrive(500);
    CHECK(wanted == std::vector<std::byte>(1000, std::byte{9}));
    const auto message = wire.to.front(3);
    REQUIRE(message);
    if (cut < whole) CHECK(payload_of(message) == sent);
    wire.to.pop(message);
    const auto next = wire.to.front(3);
    REQUIRE(next);
    CHECK(payload_of(next) == after);
  }
}

TEST_CASE("any mix of expectations, streams and cuts delivers every message once and in order") {
  std::mt19937 random(11);
  Wire wire;
  std::vector<std::vector<std::byte>> pending[2];
  std::vector<std::byte> wanted(kSlotBytes);
  int sent = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    switch (random() % 4) {
      case 0: {
        if (!wire.from.can_send()) break;
        const std::uint32_t stream = random() % 2;
        const auto payload = bytes_of(random() % 3 == 0 ? 1000 : random() % kSlotBytes, ++sent);
        wire.send(stream, payload);
        pending[stream].push_back(payload);
        break;
      }
      case 1:
        wire.arrive(random() % 2000);
        break;
      case 2:
        // As executors do: only while nothing of that stream is there.
        if (!wire.to.front(0)) wire.to.expect(0, std::span(wanted).first(1000));
        break;
      case 3: {
        const std::uint32_t stream = random() % 2;
        const auto message = wire.to.front(stream);
        if (!message) break;
        REQUIRE(!pending[stream].empty());
        REQUIRE(payload_of(message) == pending[stream].front());
        pending[stream].erase(pending[stream].begin());
        wire.to.pop(message);
        wire.return_credits();
        break;
      }
    }
  }
  CHECK(sent > 1000);
}

}  // namespace sircl::cable
