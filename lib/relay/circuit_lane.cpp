#include "relay/circuit_lane.hpp"

#include <cstring>

namespace sircl::relay {

void CircuitLane::put(std::uint64_t offset, std::span<const std::byte> head,
                      std::span<const std::byte> body, std::uint64_t flag_offset,
                      std::uint64_t flag_value) noexcept {
  const PutHeader header{offset, flag_offset, flag_value};
  std::byte* to = hop_.reserve();
  const auto append = [&to](const void* bytes, std::size_t size) {
    if (size > 0) std::memcpy(to, bytes, size);
    to += size;
  };
  append(&header, sizeof header);
  append(head.data(), head.size());
  append(body.data(), body.size());
  const std::size_t bytes = sizeof header + head.size() + body.size();
  hop_.send_reserved({}, 0, bytes, bytes);
}

bool CircuitLane::deliver() noexcept {
  bool moved = false;
  while (const auto message = hop_.front(0)) {
    PutHeader header;
    const std::span<const std::byte> bytes(message.payload, message.header->bytes);
    if (bytes.size() < sizeof header) {
      malformed_ = true;
    } else {
      std::memcpy(&header, bytes.data(), sizeof header);
      const auto body = bytes.subspan(sizeof header);
      if (transport::fits(header.offset, body.size(), header.flag_offset, window_->size())) {
        window_->store(header.offset, body, header.flag_offset, header.flag_value);
      } else {
        malformed_ = true;
      }
    }
    hop_.pop(message);
    moved = true;
  }
  return moved;
}

void CircuitLane::set_up(bool up) noexcept {
  if (up_ && !up) ++losses_;
  up_ = up;
}

Status CircuitLane::status() const {
  if (up_) return {};
  return {StatusCode::peer_lost, "a cable on the way is down"};
}

}  // namespace sircl::relay
