#include "cable/channel.hpp"

#include <algorithm>
#include <cstring>

namespace sircl::cable {
namespace {

constexpr std::size_t kLine = 64;

std::size_t slot_stride(std::uint32_t slot_bytes) {
  return sizeof(SlotHeader) + (slot_bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

transport::WindowShape window_shape(std::uint32_t slots, std::uint32_t slot_bytes) {
  const std::size_t control = 2 * kLine;
  return {slots, slot_bytes,
          kChannelsPerLane * (control + static_cast<std::size_t>(slots) * slot_stride(slot_bytes))};
}

Channel::Channel(transport::Lane* lane, const transport::WindowShape& shape, ChannelUse use)
    : lane_(lane),
      shape_(shape),
      stride_(slot_stride(shape.slot_bytes)),
      taken_(shape.slots, false),
      may_expect_(use == ChannelUse::collective) {
  const auto index = static_cast<std::size_t>(use);
  arrived_flag_ = index * 2 * kLine;
  credit_flag_ = arrived_flag_ + kLine;
  first_slot_ = kChannelsPerLane * 2 * kLine + index * shape.slots * stride_;
}

std::size_t Channel::slot_offset(std::uint64_t index) const noexcept {
  return first_slot_ + static_cast<std::size_t>(index % shape_.slots) * stride_;
}

bool Channel::can_send() noexcept {
  if (sent_ - credit_ >= shape_.slots) {
    // Acquire: the peer's reads of the slot come before the credit, so the slot may be overwritten.
    const std::uint64_t told =
        transport::flag_at(lane_->window(), credit_flag_).load(std::memory_order_acquire);
    credit_ = std::max(credit_, std::min(told, sent_));
    if (sent_ - credit_ >= shape_.slots) return false;
  }
  return lane_->can_put();
}

void Channel::post(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
                   std::span<const std::byte> payload, std::size_t bytes) noexcept {
  SlotHeader header;
  header.tag = tag;
  header.credits = told_ = released_;
  header.total = total;
  header.bytes = static_cast<std::uint32_t>(bytes);
  header.stream = stream;
  const std::size_t offset = slot_offset(sent_);
  ++sent_;
  lane_->put(offset, std::as_bytes(std::span(&header, 1)), payload, arrived_flag_, sent_);
}

void Channel::send(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
                   std::span<const std::byte> payload) noexcept {
  post(tag, stream, total, payload, payload.size());
}

std::byte* Channel::reserve() noexcept {
  if (std::byte* peer = lane_->mapped_peer(); peer != nullptr) {
    return peer + slot_offset(sent_) + sizeof(SlotHeader);
  }
  staging_.resize(shape_.slot_bytes);  // allocates once, on first use
  return staging_.data();
}

void Channel::send_reserved(const transport::OperationTag& tag, std::uint32_t stream,
                            std::uint64_t total, std::size_t bytes) noexcept {
  if (lane_->mapped_peer() != nullptr) {
    post(tag, stream, total, {}, bytes);
  } else {
    post(tag, stream, total, std::span<const std::byte>(staging_.data(), bytes), bytes);
  }
}

void Channel::expect(std::uint32_t stream, std::span<std::byte> to) noexcept {
  if (!may_expect_ || to.empty() || to.size() > shape_.slot_bytes) return;
  // One at a time: also a message that has come and was not taken yet lies in that memory alone.
  if (!expected_to_.empty()) return;
  const std::uint64_t arrived =
      transport::flag_at(lane_->window(), arrived_flag_).load(std::memory_order_acquire);
  if (arrived != arrived_) return;
  if (!lane_->redirect(slot_offset(arrived_) + sizeof(SlotHeader), to)) return;
  expected_to_ = to;
  expected_index_ = arrived_;
  expected_stream_ = stream;
}

void Channel::forget() noexcept {
  if (!expected_to_.empty()) (void)lane_->redirect(0, {});
  expected_to_ = {};
}

// The expected message is here. If it is another one than was meant, it goes where it belongs.
void Channel::settle_expectation(const SlotHeader& header) noexcept {
  (void)lane_->redirect(0, {});
  if (header.stream == expected_stream_ && header.bytes == expected_to_.size()) return;
  std::byte* const slot = lane_->window() + slot_offset(expected_index_) + sizeof(SlotHeader);
  std::memcpy(slot, expected_to_.data(), std::min<std::size_t>(expected_to_.size(), header.bytes));
  expected_to_ = {};
}

void Channel::note_arrivals() noexcept {
  const std::uint64_t arrived =
      transport::flag_at(lane_->window(), arrived_flag_).load(std::memory_order_acquire);
  if (arrived > arrived_ && arrived - released_ > shape_.slots) {
    corrupt_ = true;  // more messages than there are slots: not a peer that counts its credits
    return;
  }
  while (arrived_ < arrived) {
    const auto* header =
        reinterpret_cast<const SlotHeader*>(lane_->window() + slot_offset(arrived_));
    credit_ = std::max(credit_, std::min(header->credits, sent_));
    if (header->bytes > shape_.slot_bytes) corrupt_ = true;
    if (!expected_to_.empty() && expected_index_ == arrived_) settle_expectation(*header);
    ++arrived_;
  }
}

Channel::Message Channel::front(std::uint32_t stream) noexcept {
  note_arrivals();
  if (corrupt_) return {};
  for (std::uint64_t index = released_; index < arrived_; ++index) {
    if (taken_[index % shape_.slots]) continue;
    const std::byte* slot = lane_->window() + slot_offset(index);
    const auto* header = reinterpret_cast<const SlotHeader*>(slot);
    if (header->stream != stream) continue;
    const bool elsewhere = !expected_to_.empty() && index == expected_index_;
    // Once more, for a peer may write the slot again after it was noted.
    if (header->bytes > (elsewhere ? expected_to_.size() : shape_.slot_bytes)) {
      corrupt_ = true;
      return {};
    }
    return {header, elsewhere ? expected_to_.data() : slot + sizeof(SlotHeader)};
  }
  return {};
}

void Channel::pop(const Message& message) noexcept {
  const auto position = static_cast<std::size_t>(
      reinterpret_cast<const std::byte*>(message.header) - (lane_->window() + first_slot_));
  taken_[position / stride_] = true;
  if (message.payload == expected_to_.data()) expected_to_ = {};
  while (released_ < arrived_ && taken_[released_ % shape_.slots]) {
    taken_[released_ % shape_.slots] = false;
    ++released_;
  }
  flush_credits();
}

void Channel::flush_credits() noexcept {
  // A credit that costs a message of its own is held back until a quarter of the slots is owed:
  // mostly it travels in the header of a message going the other way.
  const std::uint64_t least = lane_->cheap_flags() ? 1 : std::max(1U, shape_.slots / 4);
  if (released_ - told_ < least || !lane_->can_put()) return;
  told_ = released_;
  lane_->put(0, {}, {}, credit_flag_, released_);
}

}  // namespace sircl::cable
