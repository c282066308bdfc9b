// A peer that puts whatever it likes into the window: slots, counts and credits of any value,
// rewritten at any time. Its receiver may fail, but never reads or writes past its memory.
#include <memory>

#include "cable/channel.hpp"
#include "exec/operation.hpp"
#include "exec/point_to_point.hpp"
#include "fuzz/input.hpp"
#include "unit/cable_memory_lane.hpp"

using namespace sircl;
using cable::Channel;
using cable::ChannelUse;
using cable::SlotHeader;
using fuzz::Input;
using fuzz::require;
using test::MemoryLane;
using test::MemoryTransport;

namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kSlotBytes = 192;

/// Reads every byte, so that a sanitizer sees where they lie.
unsigned touch(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const std::byte each : bytes) sum += static_cast<unsigned>(each);
  return sum;
}

class Session {
 public:
  explicit Session(bool redirects) : shape_(cable::window_shape(kSlots, kSlotBytes)) {
    for (int rank = 0; rank < 2; ++rank) ranks_.push_back(std::make_unique<MemoryTransport>(2));
    MemoryTransport::join(ranks_, shape_.window_bytes, {.redirects = redirects});
    channels_ = std::make_unique<exec::Channels>(*ranks_[0], 2, shape_);
    transfers_ = std::make_unique<exec::PointToPoint>(*channels_, 0, 2, kSlotBytes, counters_);
    transfers_->set_on_probe([](int, const transport::OperationTag& tag) {
      require(!exec::mismatch(0, {}, 1, tag).message().empty());
    });
  }

  void run(Input& input) {
    while (!input.empty()) step(input);
    channel().forget();
    lent_.reset();
    transfers_->fail_all({StatusCode::aborted, "the end"});
    require(transfers_->idle());
  }

 private:
  Channel& channel() { return channels_->get(1, ChannelUse::collective); }

  void step(Input& input) {
    switch (input.byte() % 12) {
      case 0:
      case 1:
      case 2:
        put_slot(input);
        break;
      case 3:
        put_anything(input);
        break;
      case 4:
      case 5:
        take(input.byte() % 3);
        break;
      case 6:
        wish(input);
        break;
      case 7:
        channel().forget();
        lent_.reset();
        break;
      case 8:
        if (channel().can_send()) {
          channel().send({}, input.byte() % 3, 1, input.take(input.byte() % kSlotBytes));
        }
        channel().flush_credits();
        break;
      case 9:
        transfer(input);
        break;
      case 10: {
        bool moved = false;
        const Status status = transfers_->progress(moved);
        if (status.ok()) break;
        require(status.message().find("rank 1") != std::string::npos);
        transfers_->fail_all(status);
        break;
      }
      default:
        if (input.byte() % 2 == 0) {
          transfers_->take_probes();
        } else {
          transfers_->probe({});
        }
        break;
    }
    ranks_[1]->at(0).progress();  // the peer's queue is not what is tested
  }

  /// What a peer that counts right would put next, with single fields changed.
  void put_slot(Input& input) {
    const std::size_t use = input.byte() % 2;
    SlotHeader header;
    header.tag.sequence = input.near(1);
    header.tag.kind = input.byte();
    header.tag.type = input.byte();
    header.credits = input.near(0);
    header.total = input.near(100);
    header.bytes = static_cast<std::uint32_t>(input.near(100));
    header.stream = static_cast<std::uint32_t>(input.near(0));
    const std::uint64_t count = input.near(++put_[use]);
    const auto region = cable::region_of(shape_, static_cast<ChannelUse>(use));
    const std::size_t slot = region.slot(input.near(count - 1));
    MemoryLane& theirs = ranks_[1]->at(0);
    theirs.put(slot + cable::kSlotFlagBytes, std::as_bytes(std::span(&header, 1)), {}, slot, count);
    if (input.byte() % 2 == 0) ranks_[0]->at(1).progress();
  }

  /// Any bytes anywhere in the window, and any flag.
  void put_anything(Input& input) {
    const std::size_t offset = input.number<std::uint16_t>() % shape_.window_bytes;
    const auto bytes =
        input.take(std::min<std::size_t>(input.byte(), shape_.window_bytes - offset));
    const std::uint64_t flag = input.number<std::uint16_t>() % (shape_.window_bytes / 8) * 8;
    ranks_[1]->at(0).put(offset, bytes, {}, flag, input.near(1));
    if (input.byte() % 2 == 0) ranks_[0]->at(1).progress();
  }

  void take(std::uint32_t stream) {
    ranks_[0]->at(1).progress();
    const auto message = channel().front(stream);
    if (!message) return;
    require(message.header->bytes <= kSlotBytes && message.header->stream == stream);
    (void)touch({message.payload, message.header->bytes});
    channel().pop(message);
  }

  void wish(Input& input) {
    if (lent_) return;
    const std::size_t size = input.byte() % kSlotBytes;
    lent_ = std::make_unique<std::byte[]>(size);
    channel().expect(input.byte() % 3, {lent_.get(), size});
  }

  void transfer(Input& input) {
    auto data = std::make_shared<std::vector<std::byte>>(input.near(100) % 1000);
    exec::Transfer transfer;
    transfer.outgoing = input.byte() % 2 == 0;
    transfer.peer = 1;
    transfer.data = data->data();
    transfer.bytes = data->size();
    transfer.finished = [data](const Status&) { (void)touch(*data); };
    transfers_->post(std::move(transfer));
  }

  transport::WindowShape shape_;
  std::vector<std::unique_ptr<MemoryTransport>> ranks_;  ///< 0 is ours, 1 is hostile
  exec::LiveCounters counters_;
  std::unique_ptr<exec::Channels> channels_;
  std::unique_ptr<exec::PointToPoint> transfers_;
  std::array<std::uint64_t, 2> put_{};
  std::unique_ptr<std::byte[]> lent_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Session(input.byte() % 2 == 0).run(input);
  return 0;
}
