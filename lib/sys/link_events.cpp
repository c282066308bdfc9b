#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sys/fd.hpp"
#include "sys/netlink.hpp"

namespace sircl::sys {
namespace {

class LinkEventsImpl final : public LinkEvents {
 public:
  explicit LinkEventsImpl(Fd socket) : socket_(std::move(socket)) {}

  int fd() const noexcept override { return socket_.get(); }

  std::vector<Event> drain() override {
    std::vector<Event> events;
    alignas(nlmsghdr) std::array<char, 16384> buffer;
    while (true) {
      const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0 && errno == ENOBUFS) {
        // Some were dropped: ask for the state of everything, which comes as news.
        ask_for_all();
        continue;
      }
      if (got <= 0) return events;
      auto left = static_cast<unsigned>(got);
      for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
           message = NLMSG_NEXT(message, left)) {
        add(events, *message);
      }
    }
  }

 private:
  void ask_for_all() const {
    struct {
      nlmsghdr header;
      ifinfomsg info;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    (void)!send(socket_.get(), &request, sizeof request, MSG_DONTWAIT);
  }

  static void add(std::vector<Event>& events, nlmsghdr& message) {
    const bool gone = message.nlmsg_type == RTM_DELLINK;
    if (message.nlmsg_type != RTM_NEWLINK && !gone) return;
    if (message.nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) return;
    const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(&message));
    if (info->ifi_family != AF_UNSPEC) return;  // a bridge's news of its members
    Event event;
    // Up and with a carrier.
    event.up = !gone && (info->ifi_flags & IFF_UP) != 0 && (info->ifi_flags & IFF_RUNNING) != 0;
    auto left = IFLA_PAYLOAD(&message);
    for (const rtattr* attribute = IFLA_RTA(info); RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left)) {
      if (attribute->rta_type != IFLA_IFNAME) continue;
      const auto* name = static_cast<const char*>(RTA_DATA(attribute));
      event.interface.assign(name, strnlen(name, RTA_PAYLOAD(attribute)));
    }
    if (!event.interface.empty()) events.push_back(std::move(event));
  }

  Fd socket_;
};

}  // namespace

Result<std::unique_ptr<LinkEvents>> LinkEvents::open() {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (!socket || bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return {StatusCode::resource,
            std::string("cannot listen to the kernel's netlink: ") + std::strerror(errno)};
  }
  return std::unique_ptr<LinkEvents>(std::make_unique<LinkEventsImpl>(std::move(socket)));
}

}  // namespace sircl::sys
