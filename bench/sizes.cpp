#include "sizes.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace sircl::bench {

std::optional<std::size_t> parse_size(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unsigned shift = 0;
  if (!unit.empty()) {
    constexpr std::string_view kUnits = "KMG";
    const char letter = static_cast<char>(unit[0] & ~0x20);
    const auto at = kUnits.find(letter);
    const std::string_view rest = unit.substr(1);
    if (at != std::string_view::npos && (rest.empty() || rest == "B" || rest == "iB")) {
      shift = 10U * static_cast<unsigned>(at + 1);
    } else if (unit != "B") {
      return std::nullopt;
    }
  }
  if (value > std::numeric_limits<std::size_t>::max() >> shift) return std::nullopt;
  return value << shift;
}

std::string format_size(std::size_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  std::string digits = std::to_string(bytes);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits + kUnits[unit];
}

}  // namespace sircl::bench
