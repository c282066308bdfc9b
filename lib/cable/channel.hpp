// A reliable, ordered message channel to one peer: slots at the receiver, credits back.
//
// Messages carry a stream number; a receiver may take the oldest message of one stream past those
// of another. A channel over several lanes stripes its messages over them and keeps each until it
// is credited: what a lane loses goes again over another one, or waits for one to come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cable/kept_messages.hpp"
#include "cable/lane_set.hpp"
#include "transport/lane.hpp"
#include "transport/operation_tag.hpp"

namespace sircl::cable {

/// Stands before the payload in its slot, after the slot's flag.
struct SlotHeader {
  transport::OperationTag tag;  ///< the operation that sent it
  std::uint64_t credits =
      0;                    ///< messages of the opposite direction that the sender has taken so far
  std::uint64_t total = 0;  ///< bytes of the whole send that this message is part of
  std::uint32_t bytes = 0;  ///< payload
  std::uint32_t stream = 0;
};
static_assert(sizeof(SlotHeader) == 56);

/// Where a channel lives in the windows of both ends: a line with the count of credits, then the
/// slots. Message n (from 0) goes to slot n mod slots, whose flag it sets to n + 1.
struct Region {
  std::size_t offset = 0;  ///< a multiple of 64
  std::uint32_t slots = 0;
  std::uint32_t slot_bytes = 0;  ///< payload of a message at most

  [[nodiscard]] std::size_t bytes() const noexcept;
  /// From the flag of one slot to that of the next.
  [[nodiscard]] std::size_t stride() const noexcept;
  [[nodiscard]] std::size_t credit_flag() const noexcept { return offset; }
  /// Where the flag of message `index` is; its header follows.
  [[nodiscard]] std::size_t slot(std::uint64_t index) const noexcept;
};
inline constexpr std::size_t kSlotFlagBytes = sizeof(std::uint64_t);

/// Two channels join every two ranks: one for collectives, one for sends and receives, so that a
/// message nobody has asked for yet can never hold up a collective.
enum class ChannelUse : std::uint8_t { collective = 0, point_to_point = 1 };
inline constexpr int kChannelsPerLane = 2;

/// A window for these two. A pure function of the arguments, so both ends agree.
[[nodiscard]] transport::WindowShape window_shape(std::uint32_t slots, std::uint32_t slot_bytes);
[[nodiscard]] Region region_of(const transport::WindowShape& shape, ChannelUse use);

class Channel {
 public:
  Channel() = default;
  /// Over one lane, which is all there is: nothing is kept, and the channel fails with the lane.
  Channel(transport::Lane* lane, const transport::WindowShape& shape, ChannelUse use);
  /// Over lanes that may fail and come back: it never fails by itself.
  Channel(LaneSet lanes, const Region& region, bool may_expect);

  [[nodiscard]] LaneSet& lanes() noexcept { return lanes_; }
  [[nodiscard]] std::uint32_t slot_bytes() const noexcept { return region_.slot_bytes; }

  // Sending. can_send() first; at most slot_bytes() of payload.
  [[nodiscard]] bool can_send() noexcept;
  void send(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
            std::span<const std::byte> payload) noexcept;
  /// Memory in which to build the next message: the peer's slot itself where that is mapped.
  [[nodiscard]] std::byte* reserve() noexcept;
  void send_reserved(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
                     std::size_t bytes) noexcept;
  /// Messages that the peer has not taken yet, as far as is known.
  [[nodiscard]] std::size_t outstanding() noexcept;

  // Receiving.
  struct Message {
    const SlotHeader* header = nullptr;
    const std::byte* payload = nullptr;
    explicit operator bool() const noexcept { return header != nullptr; }
  };
  /// The oldest message of `stream` that has arrived and was not taken yet.
  [[nodiscard]] Message front(std::uint32_t stream) noexcept;
  /// Asks that the payload of the next message to arrive be stored in `to`, so that it need not be
  /// copied there: its Message then says that it lies there. Only a wish. Memory of the caller is
  /// not touched after that message, or after forget(). For one channel of a window only: a window
  /// stores one range elsewhere at a time, and two channels would take it from each other.
  void expect(std::uint32_t stream, std::span<std::byte> to) noexcept;
  /// For the end of a failed operation: what had already arrived there is lost.
  void forget() noexcept;
  /// Gives its slot back; `message` must be the front of its stream.
  void pop(const Message& message) noexcept;
  /// Returns credits that are owed; call while waiting.
  void flush_credits() noexcept;

  // Both.
  /// Moves what is under way, and sends again what was lost. True when something may have changed.
  bool progress() noexcept;
  /// What has to be done now and then although nobody waits here: sending again what was lost, and
  /// credits that are owed, so that the other end knows in the end that all was taken.
  void tend() noexcept;
  /// Nothing more will arrive or leave; status() says why.
  [[nodiscard]] bool failed() const noexcept { return kept_.empty() && lanes_.failed(); }
  [[nodiscard]] Status status() const { return lanes_.status(); }
  /// The peer broke the rules of the channel (payload larger than a slot).
  [[nodiscard]] bool corrupt() const noexcept { return corrupt_; }

 private:
  [[nodiscard]] std::byte* window() noexcept { return lanes_.first().window(); }
  void note_credits() noexcept;
  void note_arrivals() noexcept;
  void settle_expectation(const SlotHeader& header) noexcept;
  void post(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
            std::span<const std::byte> payload, std::size_t bytes) noexcept;
  [[nodiscard]] bool transmit(std::uint64_t index) noexcept;
  void recover() noexcept;
  void give_credits(std::uint64_t least) noexcept;

  static constexpr std::uint64_t kUnknownLosses = ~std::uint64_t{0};

  LaneSet lanes_;
  Region region_;
  KeptMessages kept_;

  std::uint64_t sent_ = 0;      ///< messages put
  std::uint64_t credit_ = 0;    ///< messages that the peer has taken, as far as is known
  std::uint64_t arrived_ = 0;   ///< messages that have arrived without a gap
  std::uint64_t released_ = 0;  ///< messages taken, counted without a gap
  std::uint64_t told_ = 0;      ///< the value of released_ that the peer was told
  std::vector<bool> taken_;     ///< per slot: taken out of order, waits for its elders
  std::vector<std::byte> staging_;
  std::span<std::byte> expected_to_;  ///< see expect(); empty: nothing is expected or there
  std::uint64_t expected_index_ = 0;  ///< the message that is meant
  std::uint32_t expected_stream_ = 0;
  bool may_expect_ = false;
  bool corrupt_ = false;
};

}  // namespace sircl::cable
