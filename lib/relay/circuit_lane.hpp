// An end of a virtual circuit: a lane whose puts travel as messages from hop to hop.
#pragma once

#include <cstdint>
#include <memory>

#include "cable/channel.hpp"
#include "transport/window.hpp"

namespace sircl::relay {

/// Stands before the bytes of a put in a message of a circuit.
struct PutHeader {
  std::uint64_t offset = 0;
  std::uint64_t flag_offset = 0;
  std::uint64_t flag_value = 0;
};

/// Payload of the messages of a circuit, so that one takes a put of a channel with `slot_bytes`.
[[nodiscard]] constexpr std::uint32_t hop_slot_bytes(std::uint32_t slot_bytes) {
  return slot_bytes + static_cast<std::uint32_t>(sizeof(PutHeader) + sizeof(cable::SlotHeader));
}

class CircuitLane final : public transport::Lane {
 public:
  /// `hop` leads to the first node on the way. `spare`: the other end is a neighbour, whose own
  /// cable is better.
  CircuitLane(cable::Channel& hop, std::shared_ptr<transport::Window> window, bool spare)
      : hop_(hop), window_(std::move(window)), spare_(spare) {}

  std::byte* window() noexcept override { return window_->data(); }
  bool can_put() noexcept override { return up_ && hop_.can_send(); }
  void put(std::uint64_t offset, std::span<const std::byte> head, std::span<const std::byte> body,
           std::uint64_t flag_offset, std::uint64_t flag_value) noexcept override;
  bool redirect(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    return window_->redirect(offset, to);
  }
  /// What comes from the cables is moved by Network::serve().
  bool progress() noexcept override { return deliver(); }
  Status status() const override;
  bool failed() const noexcept override { return !up_; }
  bool cheap_flags() const noexcept override { return false; }
  std::uint32_t losses() const noexcept override { return losses_; }
  std::size_t backlog() noexcept override { return hop_.outstanding() * hop_.slot_bytes(); }
  double seconds_per_byte() const noexcept override { return seconds_per_byte_; }

  bool spare() const noexcept override { return spare_; }

  /// Stores what has come this way. True if there was anything.
  bool deliver() noexcept;
  /// Whether all cables of the way work. What is still on the way when one does not may arrive
  /// late: by then it has been sent another way, and is no news.
  void set_up(bool up) noexcept;
  void set_seconds_per_byte(double seconds) noexcept { seconds_per_byte_ = seconds; }
  [[nodiscard]] bool malformed() const noexcept { return malformed_; }

 private:
  cable::Channel& hop_;
  std::shared_ptr<transport::Window> window_;
  const bool spare_;
  double seconds_per_byte_ = 1;
  std::uint32_t losses_ = 0;
  bool up_ = true;
  bool malformed_ = false;
};

}  // namespace sircl::relay
