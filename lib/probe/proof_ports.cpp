#include "probe/proof_ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sircl::probe {
namespace {

/// Takes the text before the first `end` (or all of it) from the front of `rest`.
std::string_view take_until(char end, std::string_view& rest) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

std::string to_string(const Ports& ports) {
  std::string text;
  for (std::size_t at = 0; at < ports.size(); ++at) {
    if (at > 0) text += ';';
    text += fmt::format("{}", fmt::join(ports[at], ","));
  }
  return text;
}

std::optional<Ports> parse_ports(std::string_view text, const topology::Functions& functions) {
  Ports ports;
  for (const auto& function : functions) {
    std::string_view mine = take_until(';', text);
    auto& list = ports.emplace_back();
    for (std::size_t at = 0; at < function.addresses.size(); ++at) {
      const auto port = parse_port(take_until(',', mine));
      if (!port) return std::nullopt;
      list.push_back(*port);
    }
    if (!mine.empty()) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return ports;
}

}  // namespace sircl::probe
