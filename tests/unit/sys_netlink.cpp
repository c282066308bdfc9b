// The interfaces of this host as netlink reports them, and news of them.
#include "sys/netlink.hpp"

#include <net/if.h>
#include <poll.h>

#include <algorithm>

#include "support/catch.hpp"

using namespace sircl;
using namespace sircl::sys;

TEST_CASE("the kernel's list has the loopback interface as it is") {
  const auto links = kernel_links()->read();
  REQUIRE(links.ok());
  const auto lo = std::find_if(links->begin(), links->end(),
                               [](const Link& link) { return link.name == "lo"; });
  REQUIRE(lo != links->end());
  CHECK(lo->index == static_cast<int>(if_nametoindex("lo")));
  CHECK(lo->loopback);
  CHECK_FALSE(lo->ethernet);
  CHECK(lo->kind.empty());
  CHECK(lo->mtu >= 1280);
  CHECK(lo->hardware_address == "00:00:00:00:00:00");
  if (!lo->up) return;  // a bare network namespace
  const auto four =
      std::find_if(lo->addresses.begin(), lo->addresses.end(),
                   [](const InterfaceAddress& one) { return !one.v6 && one.bytes[0] == 127; });
  REQUIRE(four != lo->addresses.end());
  CHECK(four->bytes[3] == 1);
  CHECK(four->prefix_length == 8);
}

TEST_CASE("every interface has its own index and a name") {
  const auto links = kernel_links()->read();
  REQUIRE(links.ok());
  for (const Link& link : *links) {
    CHECK(static_cast<int>(if_nametoindex(link.name.c_str())) == link.index);
    for (const auto& address : link.addresses) {
      CHECK(address.prefix_length >= 0);
      CHECK(address.prefix_length <= (address.v6 ? 128 : 32));
    }
  }
}

TEST_CASE("news of links do not make anybody wait") {
  auto events = LinkEvents::open();
  REQUIRE(events.ok());
  pollfd entry{(*events)->fd(), POLLIN, 0};
  CHECK(poll(&entry, 1, 0) >= 0);
  for (const auto& event : (*events)->drain()) CHECK_FALSE(event.interface.empty());
  CHECK((*events)->drain().size() < 1000);
}
