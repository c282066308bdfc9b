// One all-gather at the hub: who has brought what, who is missing. No sockets here.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/protocol.hpp"

namespace sircl::bootstrap {

class Gather {
 public:
  explicit Gather(int size) : parts_(static_cast<std::size_t>(size)) {}

  /// False if the rank has brought its part already.
  bool bring(int rank, Part part) {
    auto& mine = parts_[static_cast<std::size_t>(rank)];
    if (mine) return false;
    mine = std::move(part);
    return true;
  }
  [[nodiscard]] bool pending() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part.has_value(); });
  }
  [[nodiscard]] bool complete() const { return missing().empty(); }
  [[nodiscard]] bool has(int rank) const {
    return parts_[static_cast<std::size_t>(rank)].has_value();
  }
  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      if (!parts_[rank]) ranks.push_back(static_cast<int>(rank));
    }
    return ranks;
  }
  /// The step that the lowest rank here is in.
  [[nodiscard]] std::string step() const {
    for (const auto& part : parts_) {
      if (part) return part->step;
    }
    return {};
  }
  /// The first rank whose step is not that of the lowest rank here.
  [[nodiscard]] std::optional<int> stray() const {
    const std::string common = step();
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      if (parts_[rank] && parts_[rank]->step != common) return static_cast<int>(rank);
    }
    return std::nullopt;
  }
  [[nodiscard]] const std::string& step_of(int rank) const {
    return parts_[static_cast<std::size_t>(rank)]->step;
  }
  /// Everybody's bytes; empties the gather for the next step.
  std::vector<Bytes> take() {
    std::vector<Bytes> all;
    for (auto& part : parts_) {
      all.push_back(std::move(part->bytes));
      part.reset();
    }
    return all;
  }

 private:
  std::vector<std::optional<Part>> parts_;
};

}  // namespace sircl::bootstrap
