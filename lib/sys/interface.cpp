#include "sys/interface.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace sircl::sys {
namespace {

struct Free {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::string numeric(const sockaddr& address) {
  const socklen_t size = address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(&address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  return text.data();
}

}  // namespace

bool interface_matches(std::string_view list, std::string_view name) {
  const auto strip = [&list](char mark) {
    const bool there = !list.empty() && list.front() == mark;
    if (there) list.remove_prefix(1);
    return there;
  };
  const bool except = strip('^');
  const bool exact = strip('=');
  bool named = false;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view entry = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (entry.empty()) continue;
    named = named || (exact ? name == entry : name.substr(0, entry.size()) == entry);
  }
  return named != except;
}

Result<std::string> interface_address(const std::string& list) {
  ifaddrs* raw = nullptr;
  if (getifaddrs(&raw) != 0) {
    return {StatusCode::resource,
            fmt::format("cannot list the network interfaces: {}", std::strerror(errno))};
  }
  const std::unique_ptr<ifaddrs, Free> all(raw);
  std::vector<std::string> seen;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* at = all.get(); at != nullptr; at = at->ifa_next) {
      if (std::find(seen.begin(), seen.end(), at->ifa_name) == seen.end()) {
        seen.emplace_back(at->ifa_name);
      }
      if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != family ||
          (at->ifa_flags & IFF_UP) == 0 || !interface_matches(list, at->ifa_name)) {
        continue;
      }
      if (std::string text = numeric(*at->ifa_addr); !text.empty()) return text;
    }
  }
  return {
      StatusCode::invalid_setting,
      fmt::format("SIRCL_SOCKET_IFNAME={} means no interface of this host that is up and has an "
                  "address; there are {}",
                  list, fmt::join(seen, ", "))};
}

}  // namespace sircl::sys
