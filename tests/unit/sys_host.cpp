// Who this host and process are, and its interfaces.
#include "sys/host.hpp"

#include <sched.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "sys/interface.hpp"
#include "sys/socket.hpp"

using namespace sircl;
using namespace sircl::sys;

TEST_CASE("processes of one host have one key, and labels that tell them apart") {
  const std::string key = host_key();
  CHECK(key.size() > 10);
  CHECK(host_key() == key);
  const std::string label = process_label();
  CHECK(label == host_name() + ":" + std::to_string(getpid()));
  test::Ranks child(1, [](int) { return host_key() + " " + process_label(); });
  const std::string text = child.wait(0).text;
  CHECK(text.find(key + " " + host_name() + ":") == 0);
  CHECK(text != key + " " + label);
}

TEST_CASE("processors are those that this process may use") {
  const int all = allowed_processors();
  CHECK(all >= 1);
  test::Ranks child(1, [](int) -> std::string {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    CPU_ZERO(&allowed);
    CPU_SET(first, &allowed);
    sched_setaffinity(0, sizeof allowed, &allowed);
    return allowed_processors() == 1 ? "" : "more than one";
  });
  CHECK(child.wait(0).text.empty());
}

TEST_CASE("an interface by name has a numeric address") {
  const auto loopback = interface_address("=lo");
  INFO(loopback.status().to_string());
  REQUIRE(loopback.ok());
  CHECK(is_numeric(*loopback));
  CHECK(is_loopback(*loopback));
}

TEST_CASE("an interface that is not there is an error with those that are") {
  for (const std::string list :
       {"=no-such-if", "no-such-if,nor-this", "^l,e,w,d,b,v,t,i,o,u,g,s,n"}) {
    const auto address = interface_address(list);
    if (address.ok()) continue;  // only the last could name one
    CHECK(address.status().code() == StatusCode::invalid_setting);
    const std::string text = address.status().message();
    INFO(text);
    CHECK(text.find("SIRCL_SOCKET_IFNAME=" + list +
                    " means no interface of this host that is up and has an address; there are ") ==
          0);
    CHECK(text.find("lo", text.find("there are")) != std::string::npos);
  }
}
