// What a sender keeps of its messages until they are credited, so that it can send them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sircl::cable {

class KeptMessages {
 public:
  KeptMessages() = default;  ///< keeps nothing
  KeptMessages(std::uint32_t slots, std::size_t stride)
      : stride_(stride), bytes_(slots * stride), entries_(slots) {}

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// Memory for message `index`: header and payload, as they go to the peer.
  [[nodiscard]] std::byte* at(std::uint64_t index) noexcept {
    return bytes_.data() + position(index) * stride_;
  }
  [[nodiscard]] std::span<const std::byte> message(std::uint64_t index) noexcept {
    return {at(index), entry(index).bytes};
  }

  struct Entry {
    std::size_t bytes = 0;
    int lane = -1;             ///< that carried it last
    std::uint32_t losses = 0;  ///< of that lane, then
  };
  [[nodiscard]] Entry& entry(std::uint64_t index) noexcept { return entries_[position(index)]; }

  std::uint64_t seen_losses = 0;  ///< of all lanes, when everything lost before was sent again

 private:
  [[nodiscard]] std::size_t position(std::uint64_t index) const noexcept {
    return static_cast<std::size_t>(index % entries_.size());
  }
  std::size_t stride_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<Entry> entries_;
};

}  // namespace sircl::cable
