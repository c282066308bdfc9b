// Which interfaces of recorded hosts may carry lanes, and what is known of them.
#include "probe/functions.hpp"

#include <algorithm>
#include <map>

#include "support/catch.hpp"
#include "support/recorded_host.hpp"

using namespace sircl;
using namespace sircl::probe;
using sircl::test::RecordedHost;

namespace {

Found find(RecordedHost& host, const std::string& devices = "",
           const std::string& management = "") {
  auto found = functions(host, host.sysfs(), {devices, management});
  INFO(found.status().to_string());
  REQUIRE(found.ok());
  return *std::move(found);
}

std::vector<std::string> names(const Found& found) {
  std::vector<std::string> result;
  for (const auto& function : found.functions) result.push_back(function.interface);
  return result;
}

std::map<std::string, std::string> reasons(const Found& found) {
  std::map<std::string, std::string> result;
  for (const auto& one : found.left_out) result[one.interface] = one.why;
  return result;
}

using Names = std::vector<std::string>;
using Reasons = std::map<std::string, std::string>;

const Names kGb10{"enp1s0f0np0", "enp1s0f1np1", "enP2p1s0f0np0", "enP2p1s0f1np1"};

void record_desktop(RecordedHost& host) {
  RecordedHost::address(host.pci_link("eno1", "0000:00:1f.6", 1000, 0), {192, 168, 1, 5}, 24);
  host.pci_link("enp3s0", "0000:03:00.0", -1, 0).up = false;
  host.pci_link("wlan0", "0000:02:00.0", -1, 0);
  for (const auto& [name, sign] : {std::pair{"air0", "wireless"}, std::pair{"air1", "phy80211"}}) {
    host.link(name);
    std::filesystem::create_directories(host.sysfs() + "/class/net/" + name + "/" + sign);
  }
  host.link("docker0", "bridge");
  host.link("br-0a1b2c", "bridge");
  host.link("vethd00d", "veth");
  host.member_of("vethd00d", "docker0");
  sys::Link& tailscale = host.link("tailscale0", "tun");
  tailscale.ethernet = false;
  host.link("wg0", "wireguard").ethernet = false;
  host.link("eno1.7", "vlan");
  host.link("ib0").ethernet = false;
}

}  // namespace

TEST_CASE("a GB10 has four functions on two sockets, in the order of the bus") {
  RecordedHost host;
  test::record_gb10(host);
  const Found found = find(host, "", "enP7s7");
  REQUIRE(names(found) == kGb10);
  CHECK(reasons(found) ==
        Reasons{{"lo", "loopback"}, {"enP7s7", "the management network"}, {"wlP9s9", "wireless"}});
  const auto& all = found.functions;
  CHECK(all[0].port == 0);
  CHECK(all[1].port == 1);
  CHECK(all[2].port == 0);
  CHECK(all[3].port == 1);
  const auto& one = all[2];
  CHECK(one.rdma_device == "roceP2p1s0f0");
  CHECK(one.rdma_port == 1);
  CHECK(one.pci_address == "0002:01:00.0");
  CHECK(one.speed_mbps == 200'000);
  CHECK(one.mtu == 9000);
  CHECK(one.up);
  CHECK(one.numa_node == -1);
  CHECK(one.hardware_address == "4c:bb:47:00:00:02");
  REQUIRE(one.addresses.size() == 1);
  CHECK(one.addresses[0] == topology::Address{topology::AddressFamily::v4, {198, 18, 2, 1}, 24});
}

TEST_CASE("sockets of a GB10 are found without RDMA drivers, and by the driver's own names") {
  RecordedHost plain;
  for (const auto& [name, pci] : {std::pair{"a", "0000:01:00.0"}, std::pair{"b", "0000:01:00.1"},
                                  std::pair{"c", "0002:01:00.0"}, std::pair{"d", "0002:01:00.1"},
                                  std::pair{"e", "0000:02:00.0"}, std::pair{"f", "0000:03:00.0"}}) {
    plain.pci_link(name, pci, 100'000, 0);
  }
  for (const auto& [name, port] : {std::pair{"a", "p0"}, std::pair{"b", "p1"}, std::pair{"c", "p0"},
                                   std::pair{"d", "p1"}, std::pair{"e", "p0"}}) {
    plain.write("class/net/" + std::string(name) + "/phys_port_name", port);
  }
  std::map<std::string, int> ports;
  for (const auto& one : find(plain).functions) ports[one.interface] = one.port;
  // e is another card; f's driver says nothing.
  CHECK(ports ==
        std::map<std::string, int>{{"a", 0}, {"b", 1}, {"c", 0}, {"d", 1}, {"e", 2}, {"f", -1}});
}

TEST_CASE("functions of one card and one port name share a socket wherever they are") {
  RecordedHost host;
  host.pci_link("ens1np0", "0000:17:00.0", 100'000, 0);
  host.pci_link("ens2np0", "0000:b1:00.0", 100'000, 1);
  host.pci_link("ens3np0", "0000:ca:00.0", 100'000, 1);
  host.rdma("mlx5_0", "ens1np0", "aaaa:0:0:1");
  host.rdma("mlx5_1", "ens2np0", "aaaa:0:0:1");
  host.rdma("mlx5_2", "ens3np0", "bbbb:0:0:1");
  const auto all = find(host).functions;
  REQUIRE(all.size() == 3);
  CHECK(all[0].port == 0);
  CHECK(all[1].port == 0);
  CHECK(all[2].port == 1);
  CHECK(all[1].numa_node == 1);
}

TEST_CASE("one card with two ports in one function: the port of the interface is taken") {
  RecordedHost host;
  host.pci_link("ens1", "0000:05:00.0", 40'000, 0);
  host.pci_link("ens1d1", "0000:05:00.0", 40'000, 0);
  host.rdma("mlx4_0", "ens1", "cccc:0:0:1", 1);
  host.rdma("mlx4_0", "ens1d1", "cccc:0:0:1", 2);
  const auto with_addresses = find(host).functions;
  REQUIRE(with_addresses.size() == 2);
  CHECK(with_addresses[0].rdma_port == 1);
  CHECK(with_addresses[1].rdma_port == 2);
  // Without addresses there are no GIDs, and the driver's own number tells.
  host.write("class/infiniband/mlx4_0/ports/1/gid_attrs/ndevs/0", "");
  host.write("class/infiniband/mlx4_0/ports/2/gid_attrs/ndevs/0", "");
  host.write("class/net/ens1d1/dev_port", "1");
  const auto without = find(host).functions;
  CHECK(without[0].rdma_port == 1);
  CHECK(without[1].rdma_port == 2);
}

TEST_CASE("a pair of machines with one cable each") {
  RecordedHost host;
  RecordedHost::address(host.pci_link("eno1", "0000:00:1f.6", 1000, 0), {192, 168, 1, 5}, 24);
  sys::Link& cable = host.pci_link("enp5s0f0np0", "0000:05:00.0", 25'000, 1);
  RecordedHost::address(cable, {10, 9, 0, 1}, 30);
  const Found found = find(host, "", "eno1");
  REQUIRE(names(found) == Names{"enp5s0f0np0"});
  CHECK(found.functions[0].rdma_device.empty());
  CHECK(found.functions[0].rdma_port == 0);
  CHECK(found.functions[0].numa_node == 1);
  CHECK(found.functions[0].port == 0);
}

TEST_CASE("of a desktop with containers, Wi-Fi and a VPN only real Ethernet is left") {
  RecordedHost host;
  record_desktop(host);
  const Found found = find(host);
  CHECK(names(found) == Names{"eno1", "enp3s0"});
  CHECK(reasons(found) == Reasons{{"wlan0", "wireless"},
                                  {"air0", "wireless"},
                                  {"air1", "wireless"},
                                  {"docker0", "virtual (bridge)"},
                                  {"br-0a1b2c", "virtual (bridge)"},
                                  {"vethd00d", "a member of docker0"},
                                  {"tailscale0", "virtual (tun)"},
                                  {"wg0", "virtual (wireguard)"},
                                  {"eno1.7", "virtual (vlan)"},
                                  {"ib0", "not Ethernet"}});
  // Down and without an address, so that its missing cable can be named.
  CHECK_FALSE(found.functions[1].up);
  CHECK(found.functions[1].speed_mbps == 0);
  CHECK(names(find(host, "", "eno1")) == Names{"enp3s0"});
}

TEST_CASE("SIRCL_DEVICES chooses by interface and by RDMA device") {
  RecordedHost host;
  test::record_gb10(host);
  const auto chosen = [&](const std::string& devices) {
    return names(find(host, devices, "enP7s7"));
  };
  CHECK(chosen("enP2") == Names{"enP2p1s0f0np0", "enP2p1s0f1np1"});
  CHECK(chosen("rocep1s0f0,enP2p1s0f1np1") == Names{"enp1s0f0np0", "enP2p1s0f1np1"});
  CHECK(chosen("=rocep1s0f1") == Names{"enp1s0f1np1"});
  CHECK(chosen("^roceP2") == Names{"enp1s0f0np0", "enp1s0f1np1"});
  CHECK(chosen("^enP2") == Names{"enp1s0f0np0", "enp1s0f1np1"});
  CHECK(chosen("^=enp1s0f0np0,gone") == Names(kGb10.begin() + 1, kGb10.end()));
  CHECK(chosen(",") == kGb10);
  CHECK(reasons(find(host, "enP2", "enP7s7")).at("enp1s0f0np0") == "not in SIRCL_DEVICES=enP2");
}

TEST_CASE("what is named in full is taken whatever it is; a prefix chooses among the fit") {
  RecordedHost host;
  record_desktop(host);
  CHECK(names(find(host, "eno", "eno1")).empty());
  CHECK(names(find(host, "eno1", "eno1")) == Names{"eno1"});
  CHECK(names(find(host, "=eno1.7,docker0")) == Names{"docker0", "eno1.7"});
  CHECK(names(find(host, "docker")).empty());
}

TEST_CASE("a device that is not there is an error that lists what there is") {
  RecordedHost host;
  test::record_gb10(host);
  for (const char* devices : {"rocep1s0f0,mlx5_0", "=enp1s0f0,mlx5_0", "mlx5_0"}) {
    const auto found = functions(host, host.sysfs(), {devices, ""});
    REQUIRE_FALSE(found.ok());
    CHECK(found.status().code() == StatusCode::invalid_setting);
    CHECK(found.status().message().find(" there are ") != std::string::npos);
    CHECK(found.status().message().find("enp1s0f0np0 (rocep1s0f0), ") != std::string::npos);
  }
  CHECK(functions(host, host.sysfs(), {"mlx5_0", ""})
            .status()
            .message()
            .rfind("SIRCL_DEVICES names 'mlx5_0', ", 0) == 0);
}

TEST_CASE("sysfs that is damaged or missing leaves things unknown") {
  RecordedHost host;
  host.pci_link("eth0", "0000:05:00.0", 0, 0);
  host.write("class/net/eth0/speed", "4294967295");
  host.write("class/net/eth0/device/numa_node", "x");
  host.link("eth1");
  host.write("class/net/eth1/speed", "fast");
  std::filesystem::create_directories(host.sysfs() + "/class/net/eth0/device/infiniband/mlx5_9");
  for (const auto& one : find(host).functions) {
    CHECK(one.speed_mbps == 0);
    CHECK(one.numa_node == -1);
    CHECK(one.rdma_device.empty());
    CHECK(one.port == -1);
  }
  const auto without = functions(host, host.sysfs() + "/nothing", {});
  REQUIRE(without.ok());
  CHECK(without->functions.size() == 2);
}
