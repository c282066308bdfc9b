#include "comm/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "comm/pin.hpp"
#include "sys/host.hpp"

namespace sircl::detail {

Place Place::here(std::vector<int> processors) {
  return {sys::host_key(), sys::host_name(), std::move(processors)};
}

std::string Place::to_text() const {
  return fmt::format("{}\n{}\n{}", key, name, processor_list(processors));
}

Place Place::from_text(std::string_view text) {
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return std::string(first);
  };
  Place place;
  place.key = line();
  place.name = line();
  if (auto processors = parse_processor_list(line())) place.processors = *std::move(processors);
  return place;
}

int Hosts::ranks_here() const {
  return static_cast<int>(std::count_if(places_.begin(), places_.end(), [this](const Place& place) {
    return place.key == places_[static_cast<std::size_t>(rank_)].key;
  }));
}

int Hosts::local_index() const {
  return static_cast<int>(
      std::count_if(places_.begin(), places_.begin() + rank_, [this](const Place& place) {
        return place.key == places_[static_cast<std::size_t>(rank_)].key;
      }));
}

int Hosts::processors_here() const {
  std::set<int> processors;
  for (const Place& place : places_) {
    if (place.key != places_[static_cast<std::size_t>(rank_)].key) continue;
    processors.insert(place.processors.begin(), place.processors.end());
  }
  return std::max(1, static_cast<int>(processors.size()));
}

std::string Hosts::to_string() const {
  std::string text;
  std::set<std::string> told;
  for (const Place& place : places_) {
    if (!told.insert(place.key).second) continue;
    std::vector<int> ranks;
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      if (places_[rank].key == place.key) ranks.push_back(static_cast<int>(rank));
    }
    text += fmt::format("{}{} (rank{} {})", text.empty() ? "" : ", ", place.name,
                        ranks.size() == 1 ? "" : "s", processor_list(ranks));
  }
  return text;
}

}  // namespace sircl::detail
