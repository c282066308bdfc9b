#include "cable/channel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sircl::cable {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kPayloadOffset = kSlotFlagBytes + sizeof(SlotHeader);
static_assert(kPayloadOffset == kLine);

}  // namespace

std::size_t Region::stride() const noexcept {
  return kPayloadOffset + (slot_bytes + kLine - 1) / kLine * kLine;
}

std::size_t Region::bytes() const noexcept { return kLine + slots * stride(); }

std::size_t Region::slot(std::uint64_t index) const noexcept {
  return offset + kLine + static_cast<std::size_t>(index % slots) * stride();
}

transport::WindowShape window_shape(std::uint32_t slots, std::uint32_t slot_bytes) {
  return {slots, slot_bytes, kChannelsPerLane * Region{0, slots, slot_bytes}.bytes()};
}

Region region_of(const transport::WindowShape& shape, ChannelUse use) {
  Region region{0, shape.slots, shape.slot_bytes};
  region.offset = static_cast<std::size_t>(use) * region.bytes();
  return region;
}

Channel::Channel(transport::Lane* lane, const transport::WindowShape& shape, ChannelUse use)
    : lanes_({lane}),
      region_(region_of(shape, use)),
      taken_(shape.slots, false),
      may_expect_(use == ChannelUse::collective) {}

Channel::Channel(LaneSet lanes, const Region& region, bool may_expect)
    : lanes_(std::move(lanes)),
      region_(region),
      kept_(region.slots, region.stride()),
      taken_(region.slots, false),
      may_expect_(may_expect) {}

void Channel::note_credits() noexcept {
  // Acquire: the peer's reads of the slot come before the credit, so the slot may be overwritten.
  const std::uint64_t told =
      transport::flag_at(window(), region_.credit_flag()).load(std::memory_order_acquire);
  credit_ = std::max(credit_, std::min(told, sent_));
}

bool Channel::can_send() noexcept {
  if (sent_ - credit_ >= region_.slots) {
    note_credits();
    if (sent_ - credit_ >= region_.slots) return false;
  }
  return lanes_.choose(region_.slot_bytes) != LaneSet::kNone;
}

std::size_t Channel::outstanding() noexcept {
  note_credits();
  return static_cast<std::size_t>(sent_ - credit_);
}

void Channel::post(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
                   std::span<const std::byte> payload, std::size_t bytes) noexcept {
  SlotHeader header;
  header.tag = tag;
  header.credits = told_ = released_;
  header.total = total;
  header.bytes = static_cast<std::uint32_t>(bytes);
  header.stream = stream;
  const std::uint64_t index = sent_++;
  if (kept_.empty()) {
    const std::size_t slot = region_.slot(index);
    lanes_.first().put(slot + kSlotFlagBytes, std::as_bytes(std::span(&header, 1)), payload, slot,
                       index + 1);
    return;
  }
  std::byte* copy = kept_.at(index);
  std::memcpy(copy, &header, sizeof header);
  std::byte* const kept_payload = copy + sizeof header;
  if (!payload.empty() && payload.data() != kept_payload) {
    std::memcpy(kept_payload, payload.data(), payload.size());
  }
  kept_.entry(index) = {sizeof header + bytes, LaneSet::kNone, 0};
  if (!transmit(index)) kept_.seen_losses = kUnknownLosses;
}

bool Channel::transmit(std::uint64_t index) noexcept {
  KeptMessages::Entry& entry = kept_.entry(index);
  const int choice = lanes_.choose(entry.bytes);
  if (choice == LaneSet::kNone) return false;
  transport::Lane& lane = lanes_[choice];
  entry.lane = choice;
  entry.losses = lane.losses();
  const std::size_t slot = region_.slot(index);
  lane.put(slot + kSlotFlagBytes, kept_.message(index), {}, slot, index + 1);
  return true;
}

// What a lane lost goes again, in any order: each message has a slot and a flag of its own.
void Channel::recover() noexcept {
  const std::uint64_t losses = lanes_.losses();
  if (losses == kept_.seen_losses) return;
  told_ = 0;  // a credit may have been lost too
  note_credits();
  for (std::uint64_t index = credit_; index < sent_; ++index) {
    const KeptMessages::Entry& entry = kept_.entry(index);
    const bool lost = entry.lane == LaneSet::kNone || lanes_[entry.lane].losses() != entry.losses;
    if (lost && !transmit(index)) return;  // the rest when a lane has room, or is back
  }
  kept_.seen_losses = losses;
}

bool Channel::progress() noexcept {
  const bool moved = lanes_.progress();
  if (!kept_.empty()) recover();
  return moved;
}

void Channel::tend() noexcept {
  if (!kept_.empty()) recover();
  give_credits(1);
}

void Channel::send(const transport::OperationTag& tag, std::uint32_t stream, std::uint64_t total,
                   std::span<const std::byte> payload) noexcept {
  post(tag, stream, total, payload, payload.size());
}

std::byte* Channel::reserve() noexcept {
  if (std::byte* peer = lanes_.first().mapped_peer(); peer != nullptr) {
    return peer + region_.slot(sent_) + kPayloadOffset;
  }
  if (!kept_.empty()) return kept_.at(sent_) + sizeof(SlotHeader);
  staging_.resize(region_.slot_bytes);  // allocates once, on first use
  return staging_.data();
}

void Channel::send_reserved(const transport::OperationTag& tag, std::uint32_t stream,
                            std::uint64_t total, std::size_t bytes) noexcept {
  if (lanes_.first().mapped_peer() != nullptr) {
    post(tag, stream, total, {}, bytes);
    return;
  }
  const std::byte* built = kept_.empty() ? staging_.data() : kept_.at(sent_) + sizeof(SlotHeader);
  post(tag, stream, total, {built, bytes}, bytes);
}

void Channel::expect(std::uint32_t stream, std::span<std::byte> to) noexcept {
  if (!may_expect_ || to.empty() || to.size() > region_.slot_bytes) return;
  // One at a time: also a message that has come and was not taken yet lies in that memory alone.
  if (!expected_to_.empty()) return;
  const std::size_t slot = region_.slot(arrived_);
  if (transport::flag_at(window(), slot).load(std::memory_order_acquire) > arrived_) return;
  if (!lanes_.first().redirect(slot + kPayloadOffset, to)) return;
  expected_to_ = to;
  expected_index_ = arrived_;
  expected_stream_ = stream;
}

void Channel::forget() noexcept {
  if (!expected_to_.empty()) (void)lanes_.first().redirect(0, {});
  expected_to_ = {};
}

// The expected message is here. If it is another one than was meant, it goes where it belongs.
void Channel::settle_expectation(const SlotHeader& header) noexcept {
  (void)lanes_.first().redirect(0, {});
  if (header.stream == expected_stream_ && header.bytes == expected_to_.size()) return;
  std::byte* const payload = window() + region_.slot(expected_index_) + kPayloadOffset;
  std::memcpy(payload, expected_to_.data(),
              std::min<std::size_t>(expected_to_.size(), header.bytes));
  expected_to_ = {};
}

void Channel::note_arrivals() noexcept {
  while (true) {
    const std::size_t slot = region_.slot(arrived_);
    const std::uint64_t flag = transport::flag_at(window(), slot).load(std::memory_order_acquire);
    if (flag <= arrived_) return;  // nothing, or the message of the round before
    if (flag != arrived_ + 1 || arrived_ - released_ >= region_.slots) {
      corrupt_ = true;  // not a peer that counts its messages and credits
      return;
    }
    const auto* header = reinterpret_cast<const SlotHeader*>(window() + slot + kSlotFlagBytes);
    credit_ = std::max(credit_, std::min(header->credits, sent_));
    if (header->bytes > region_.slot_bytes) corrupt_ = true;
    if (!expected_to_.empty() && expected_index_ == arrived_) settle_expectation(*header);
    ++arrived_;
  }
}

Channel::Message Channel::front(std::uint32_t stream) noexcept {
  note_arrivals();
  if (corrupt_) return {};
  for (std::uint64_t index = released_; index < arrived_; ++index) {
    if (taken_[index % region_.slots]) continue;
    const std::byte* slot = window() + region_.slot(index);
    const auto* header = reinterpret_cast<const SlotHeader*>(slot + kSlotFlagBytes);
    if (header->stream != stream) continue;
    const bool elsewhere = !expected_to_.empty() && index == expected_index_;
    // Once more, for a peer may write the slot again after it was noted.
    if (header->bytes > (elsewhere ? expected_to_.size() : region_.slot_bytes)) {
      corrupt_ = true;
      return {};
    }
    return {header, elsewhere ? expected_to_.data() : slot + kPayloadOffset};
  }
  return {};
}

void Channel::pop(const Message& message) noexcept {
  const auto position = static_cast<std::size_t>(
      reinterpret_cast<const std::byte*>(message.header) - (window() + region_.slot(0)));
  taken_[position / region_.stride()] = true;
  if (message.payload == expected_to_.data()) expected_to_ = {};
  while (released_ < arrived_ && taken_[released_ % region_.slots]) {
    taken_[released_ % region_.slots] = false;
    ++released_;
  }
  flush_credits();
}

void Channel::flush_credits() noexcept {
  // A credit that costs a message of its own is held back until a quarter of the slots is owed:
  // mostly it travels in the header of a message going the other way.
  give_credits(lanes_.first().cheap_flags() ? 1 : std::max(1U, region_.slots / 4));
}

void Channel::give_credits(std::uint64_t least) noexcept {
  if (released_ - told_ < least) return;
  const int lane = lanes_.choose(0);
  if (lane == LaneSet::kNone) return;
  told_ = released_;
  lanes_[lane].put(region_.offset, {}, {}, region_.credit_flag(), released_);
}

}  // namespace sircl::cable
