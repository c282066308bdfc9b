// A reliable, ordered message channel to one peer over a lane: slots at the receiver, credits back.
//
// Two channels share a lane: one for collectives, one for sends and receives, so that a message
// nobody has asked for yet can never hold up a collective. Messages carry a stream number; a
// receiver may take the oldest message of one stream past those of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/lane.hpp"
#include "transport/operation_tag.hpp"

namespace sircl::cable {

/// Stands before the payload in its slot.
struct SlotHeader {
  transport::OperationTag tag;  ///< the operation that sent it
  std::uint64_t credits =
      0;                    ///< messages of the opposite direction that the sender has taken so far
  std::uint64_t total = 0;  ///< bytes of the whole send that this message is part of
  std::uint32_t bytes = 0;  ///< payload
  std::uint32_t stream = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(SlotHeader) == 64);

/// Which of the two channels of a lane.
enum class ChannelUse : std::uint8_t { collective = 0, point_to_point = 1 };
inline constexpr int kChannelsPerLane = 2;

/// Offsets in a window: per channel one line with the arrival count and one with the credit
/// count, then the slots. A pure function of the shape, so both ends agree.
[[nodiscard]] transport::WindowShape window_shape(std::uint32_t slots, std::uint32_t slot_bytes);

class Channel {
 public:
  Channel() = default;
  Channel(transport::Lane* lane, const transport::WindowShape& shape, ChannelUse use);

  [[nodiscard]] transport::Lane& lane() const noexcept { return *lane_; }
  [[nodiscard]] std::uint32_t slot_bytes() const noexcept { return shape_.slot_bytes; }

  // Sending. can_send() first; at most slot_bytes() of payload.
  [[nodiscard]] bool can_send() noexcept;
  void send(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
            std::span<const std::byte> payload) noexcept;
  /// Memory in which to build the next message: the peer's slot itself where that is mapped.
  [[nodiscard]] std::byte* reserve() noexcept;
  void send_reserved(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
                     std::size_t bytes) noexcept;

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
  /// not touched after that message, or after forget(). Granted to the collective channel only: a
  /// lane stores one range elsewhere at a time, and the two channels would take it from each other.
  void expect(std::uint32_t stream, std::span<std::byte> to) noexcept;
  /// For the end of a failed operation: what had already arrived there is lost.
  void forget() noexcept;
  /// Gives its slot back; `message` must be the front of its stream.
  void pop(const Message& message) noexcept;
  /// Returns credits that are owed; call while waiting.
  void flush_credits() noexcept;
  /// The peer broke the rules of the channel (payload larger than a slot).
  [[nodiscard]] bool corrupt() const noexcept { return corrupt_; }

 private:
  [[nodiscard]] std::size_t slot_offset(std::uint64_t index) const noexcept;
  void note_arrivals() noexcept;
  void settle_expectation(const SlotHeader& header) noexcept;
  void post(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
            std::span<const std::byte> payload, std::size_t bytes) noexcept;

  transport::Lane* lane_ = nullptr;
  transport::WindowShape shape_;
  std::size_t arrived_flag_ = 0;
  std::size_t credit_flag_ = 0;
  std::size_t first_slot_ = 0;
  std::size_t stride_ = 0;

  std::uint64_t sent_ = 0;      ///< messages put
  std::uint64_t credit_ = 0;    ///< messages that the peer has taken, as far as is known
  std::uint64_t arrived_ = 0;   ///< messages that have arrived
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
