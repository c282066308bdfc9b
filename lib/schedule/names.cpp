#include <array>

#include "schedule/schedule.hpp"

namespace sircl::schedule {
namespace {

constexpr std::array<std::string_view, kCollectiveCount> kCollectives = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
    "gather",     "scatter",    "all_to_all",     "barrier"};
constexpr std::array<std::string_view, kAlgorithmCount> kAlgorithms = {
    "direct", "exchange", "recursive_doubling", "halving_doubling", "ring", "path"};
constexpr std::array<std::string_view, 3> kWirings = {"mesh", "ring", "path"};

template <typename Enum, std::size_t Size>
std::string_view name_of(const std::array<std::string_view, Size>& names, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < Size ? names[index] : "invalid";
}

template <typename Enum, std::size_t Size>
std::optional<Enum> value_of(const std::array<std::string_view, Size>& names,
                             std::string_view name) noexcept {
  for (std::size_t index = 0; index < Size; ++index) {
    if (names[index] == name) return static_cast<Enum>(index);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Collective collective) noexcept {
  return name_of(kCollectives, collective);
}
std::string_view to_string(Algorithm algorithm) noexcept { return name_of(kAlgorithms, algorithm); }
std::string_view to_string(Wiring wiring) noexcept { return name_of(kWirings, wiring); }

std::optional<Collective> parse_collective(std::string_view name) noexcept {
  return value_of<Collective>(kCollectives, name);
}
std::optional<Algorithm> parse_algorithm(std::string_view name) noexcept {
  return value_of<Algorithm>(kAlgorithms, name);
}

}  // namespace sircl::schedule
