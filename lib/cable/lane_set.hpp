// The lanes to one peer: which of them carries the next message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/lane.hpp"

namespace sircl::cable {

class LaneSet {
 public:
  LaneSet() = default;
  /// At least one. The first is asked for what all share (the window, mapped memory).
  explicit LaneSet(std::vector<transport::Lane*> lanes) : lanes_(std::move(lanes)) {}

  static constexpr int kNone = -1;

  [[nodiscard]] transport::Lane& first() const noexcept { return *lanes_.front(); }
  [[nodiscard]] transport::Lane& operator[](int index) const noexcept {
    return *lanes_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool alone() const noexcept { return lanes_.size() == 1; }

  /// The lane on which `bytes` more would arrive first; kNone: wait for it, or none works.
  [[nodiscard]] int choose(std::size_t bytes) noexcept;
  /// Moves what is under way on all of them.
  bool progress() noexcept;
  /// Whether none works.
  [[nodiscard]] bool failed() const noexcept;
  /// Why, of the first.
  [[nodiscard]] Status status() const { return first().status(); }
  /// Grows whenever messages may have been lost.
  [[nodiscard]] std::uint64_t losses() const noexcept;

 private:
  std::vector<transport::Lane*> lanes_;
};

}  // namespace sircl::cable
