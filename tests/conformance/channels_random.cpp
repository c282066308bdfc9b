// Random interleavings of everything that channels can do, compared with plain queues.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>

#include "cable/channel.hpp"
#include "conformance/transports.hpp"
#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::test;
using cable::Channel;
using cable::ChannelUse;

namespace {

constexpr std::uint32_t kSlotBytes = 512;
constexpr std::uint32_t kStreams = 3;

struct Sent {
  std::uint64_t number;
  std::size_t bytes;
};

/// One end of one channel, and what it must receive.
struct End {
  Channel channel;
  std::map<std::uint32_t, std::deque<Sent>> due;  ///< by stream
  std::vector<std::byte> wished;                  ///< lent to expect()
};

class Model {
 public:
  Model(const std::string& transport, std::uint32_t slots, std::uint64_t seed)
      : random_(seed), shape_(cable::window_shape(slots, kSlotBytes)) {
    endpoints_ = transport_named(transport).connect(2, shape_);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      for (std::size_t use = 0; use < 2; ++use) {
        auto& end = ends_[rank][use];
        end.channel = {endpoints_[rank]->lane(static_cast<int>(1 - rank)), shape_,
                       static_cast<ChannelUse>(use)};
      }
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      INFO("step " << i);
      const std::size_t rank = pick(2);
      const std::size_t use = pick(2);
      switch (pick(8)) {
        case 0:
        case 1:
        case 2:
          send(rank, use);
          break;
        case 3:
        case 4:
          take(rank, use, static_cast<std::uint32_t>(pick(kStreams)));
          break;
        case 5:
          endpoints_[rank]->lane(static_cast<int>(1 - rank))->progress();
          break;
        case 6:
          ends_[rank][use].channel.flush_credits();
          break;
        default:
          wish(rank, use);
          break;
      }
    }
    drain();
  }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  [[nodiscard]] std::uint64_t granted() const { return granted_; }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  void send(std::size_t rank, std::size_t use) {
    Channel& channel = ends_[rank][use].channel;
    if (!channel.can_send()) return;
    const auto stream = static_cast<std::uint32_t>(pick(kStreams));
    const Sent sent{++numbers_, pick(4) == 0 ? pick(kSlotBytes + 1) : pick(2) * kSlotBytes};
    auto bytes = pattern(sent.number, sent.bytes);
    transport::OperationTag tag;
    tag.sequence = sent.number;
    if (pick(2) == 0) {
      channel.send(tag, stream, sent.bytes, bytes);
    } else {
      std::copy(bytes.begin(), bytes.end(), channel.reserve());
      channel.send_reserved(tag, stream, sent.bytes, bytes.size());
    }
    ends_[1 - rank][use].due[stream].push_back(sent);
  }

  void take(std::size_t rank, std::size_t use, std::uint32_t stream) {
    End& end = ends_[rank][use];
    const auto message = end.channel.front(stream);
    if (!message) return;
    auto& due = end.due[stream];
    REQUIRE_FALSE(due.empty());
    const Sent sent = due.front();
    due.pop_front();
    REQUIRE(message.header->tag.sequence == sent.number);
    REQUIRE(message.header->bytes == sent.bytes);
    REQUIRE(message.header->stream == stream);
    REQUIRE(holds_pattern({message.payload, sent.bytes}, sent.number));
    if (message.payload == end.wished.data()) ++granted_;
    end.channel.pop(message);
    ++taken_;
  }

  /// Lends memory, of the size of a frequent message, for the next one of some stream.
  void wish(std::size_t rank, std::size_t use) {
    End& end = ends_[rank][use];
    if (end.wished.empty()) end.wished.resize(kSlotBytes);
    end.channel.expect(static_cast<std::uint32_t>(pick(kStreams)), end.wished);
  }

  void drain() {
    const auto open = [&] {
      for (const auto& row : ends_) {
        for (const End& end : row) {
          for (const auto& [stream, due] : end.due) {
            if (!due.empty()) return true;
          }
        }
      }
      return false;
    };
    REQUIRE(reaches(endpoints_, [&] {
      for (std::size_t rank = 0; rank < 2; ++rank) {
        for (std::size_t use = 0; use < 2; ++use) {
          for (std::uint32_t stream = 0; stream < kStreams; ++stream) take(rank, use, stream);
          CHECK_FALSE(ends_[rank][use].channel.corrupt());
        }
      }
      return !open();
    }));
  }

  std::mt19937_64 random_;
  transport::WindowShape shape_;
  Endpoints endpoints_;
  std::array<std::array<End, 2>, 2> ends_;
  std::uint64_t numbers_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t granted_ = 0;
};

}  // namespace

TEST_CASE("random interleavings deliver what was sent, stream by stream") {
  const std::string name = GENERATE(from_range(transport_names()));
  std::uint64_t granted = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto slots = static_cast<std::uint32_t>(2 + seed % 7);
    INFO(name << ", seed " << seed << ", " << slots << " slots");
    Model model(name, slots, seed);
    model.run(8000);
    CHECK(model.taken() > 500);
    granted += model.granted();
  }
  if (transport_named(name).can_redirect) CHECK(granted > 300);
}
