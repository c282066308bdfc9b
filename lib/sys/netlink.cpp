#include "sys/netlink.hpp"

#include <fmt/format.h>
#include <linux/if_arp.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>

#include <algorithm>
#include <cstring>

namespace sircl::sys {
namespace {

struct FreeSocket {
  void operator()(nl_sock* socket) const { nl_socket_free(socket); }
};
struct FreeCache {
  void operator()(nl_cache* cache) const { nl_cache_free(cache); }
};
using Socket = std::unique_ptr<nl_sock, FreeSocket>;
using Cache = std::unique_ptr<nl_cache, FreeCache>;

Status failure(const char* what, int error) {
  return {StatusCode::resource,
          fmt::format("cannot {} (netlink: {}); let the process use NETLINK_ROUTE sockets", what,
                      nl_geterror(error))};
}

Result<Socket> connected() {
  Socket socket(nl_socket_alloc());
  if (!socket) return failure("open a netlink socket", -NLE_NOMEM);
  if (const int error = nl_connect(socket.get(), NETLINK_ROUTE); error < 0) {
    return failure("open a netlink socket", error);
  }
  return socket;
}

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

std::string hardware_address(rtnl_link* link) {
  nl_addr* address = rtnl_link_get_addr(link);
  if (address == nullptr || nl_addr_get_len(address) == 0) return {};
  const auto* bytes = static_cast<const std::uint8_t*>(nl_addr_get_binary_addr(address));
  return fmt::format("{:02x}", fmt::join(bytes, bytes + nl_addr_get_len(address), ":"));
}

Link to_link(rtnl_link* from) {
  const unsigned flags = rtnl_link_get_flags(from);
  Link link;
  link.index = rtnl_link_get_ifindex(from);
  link.name = text_of(rtnl_link_get_name(from));
  link.kind = text_of(rtnl_link_get_type(from));
  link.ethernet = rtnl_link_get_arptype(from) == ARPHRD_ETHER;
  link.loopback = (flags & IFF_LOOPBACK) != 0;
  link.up = (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
  link.mtu = static_cast<int>(rtnl_link_get_mtu(from));
  link.hardware_address = hardware_address(from);
  return link;
}

void add_address(std::vector<Link>& links, rtnl_addr* from) {
  nl_addr* local = rtnl_addr_get_local(from);
  const int index = rtnl_addr_get_ifindex(from);
  const auto link =
      std::find_if(links.begin(), links.end(), [&](const Link& one) { return one.index == index; });
  if (local == nullptr || link == links.end()) return;
  InterfaceAddress address;
  const unsigned size = nl_addr_get_len(local);
  if (size != 4 && size != address.bytes.size()) return;
  address.v6 = size != 4;
  std::memcpy(address.bytes.data(), nl_addr_get_binary_addr(local), size);
  address.prefix_length = rtnl_addr_get_prefixlen(from);
  link->addresses.push_back(address);
}

class KernelLinks final : public LinkTable {
 public:
  Result<std::vector<Link>> read() override {
    auto socket = connected();
    if (!socket) return socket.status();
    nl_cache* raw = nullptr;
    if (const int error = rtnl_link_alloc_cache(socket->get(), AF_UNSPEC, &raw); error < 0) {
      return failure("list the network interfaces", error);
    }
    const Cache all_links(raw);
    if (const int error = rtnl_addr_alloc_cache(socket->get(), &raw); error < 0) {
      return failure("list the addresses of the network interfaces", error);
    }
    const Cache all_addresses(raw);
    std::vector<Link> links;
    for (nl_object* at = nl_cache_get_first(all_links.get()); at != nullptr;
         at = nl_cache_get_next(at)) {
      links.push_back(to_link(reinterpret_cast<rtnl_link*>(at)));
    }
    for (nl_object* at = nl_cache_get_first(all_addresses.get()); at != nullptr;
         at = nl_cache_get_next(at)) {
      add_address(links, reinterpret_cast<rtnl_addr*>(at));
    }
    return links;
  }
};

}  // namespace

std::unique_ptr<LinkTable> kernel_links() { return std::make_unique<KernelLinks>(); }

}  // namespace sircl::sys
