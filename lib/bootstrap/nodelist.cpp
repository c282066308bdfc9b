#include "bootstrap/nodelist.hpp"

#include <algorithm>
#include <cctype>

namespace sircl::bootstrap {
namespace {

bool is_host_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_';
}

}  // namespace

std::optional<std::string> first_node(std::string_view list) {
  std::string host;
  // Each bracket contributes the beginning of its first range; there may be several per name.
  for (std::size_t at = 0; at < list.size() && list[at] != ','; ++at) {
    if (list[at] != '[') {
      if (!is_host_letter(list[at])) return std::nullopt;
      host += list[at];
      continue;
    }
    const std::size_t close = list.find(']', at);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view ranges = list.substr(at + 1, close - at - 1);
    const std::string_view number = ranges.substr(0, ranges.find_first_of("-,"));
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit)) return std::nullopt;
    host += number;
    at = close;
  }
  if (host.empty()) return std::nullopt;
  return host;
}

}  // namespace sircl::bootstrap
