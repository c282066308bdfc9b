// A host as netlink and sysfs would tell of it: interfaces in a list, and a small sysfs tree in a
// temporary folder that goes away with it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sys/netlink.hpp"

namespace sircl::test {

class RecordedHost final : public sys::LinkTable {
 public:
  RecordedHost() {
    std::string name = std::filesystem::temp_directory_path() / "sircl-host-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
    std::filesystem::create_directories(root_ / "class/net");
  }
  ~RecordedHost() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  RecordedHost(const RecordedHost&) = delete;
  RecordedHost& operator=(const RecordedHost&) = delete;

  Result<std::vector<sys::Link>> read() override { return links; }
  [[nodiscard]] std::string sysfs() const { return root_; }

  sys::Link& link(const std::string& name, const std::string& kind = "") {
    sys::Link added;
    added.index = static_cast<int>(links.size()) + 1;
    added.name = name;
    added.kind = kind;
    added.ethernet = true;
    added.up = true;
    added.mtu = 1500;
    links.push_back(added);
    std::filesystem::create_directories(root_ / "class/net" / name);
    return links.back();
  }
  /// On PCI: its folder in devices, where class/net and `device` point to.
  sys::Link& pci_link(const std::string& name, const std::string& pci, int speed_mbps, int numa) {
    sys::Link& added = link(name);
    const auto device = root_ / ("devices/pci" + pci.substr(0, pci.rfind(':'))) / pci;
    std::filesystem::create_directories(device);
    std::filesystem::create_directory_symlink(device, root_ / "class/net" / name / "device");
    write("class/net/" + name + "/speed", std::to_string(speed_mbps));
    write("class/net/" + name + "/device/numa_node", std::to_string(numa));
    return added;
  }
  /// An RDMA device of one port behind an interface that is there already.
  void rdma(const std::string& device, const std::string& interface, const std::string& card,
            int port = 1, bool with_gids = true) {
    const std::string place = "class/infiniband/" + device;
    std::filesystem::create_directories(root_ / "class/net" / interface / "device/infiniband" /
                                        device);
    write(place + "/sys_image_guid", card);
    const std::string ndevs = place + "/ports/" + std::to_string(port) + "/gid_attrs/ndevs/";
    write(ndevs + "0", with_gids ? interface : "");
  }
  void write(const std::string& path, const std::string& line) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << line << '\n';
  }
  void member_of(const std::string& interface, const std::string& master) const {
    std::filesystem::create_directory_symlink(root_ / "class/net" / master,
                                              root_ / "class/net" / interface / "master");
  }
  static void address(sys::Link& link, std::array<std::uint8_t, 4> bytes, int prefix_length) {
    sys::InterfaceAddress added;
    std::copy(bytes.begin(), bytes.end(), added.bytes.begin());
    added.prefix_length = prefix_length;
    link.addresses.push_back(added);
  }

  std::vector<sys::Link> links;

 private:
  std::filesystem::path root_;
};

/// Two sockets, each shown by two PCIe functions in two domains; the LAN by a third card, Wi-Fi.
inline void record_gb10(RecordedHost& host) {
  // As the drivers came up, which is not the order of the bus.
  sys::Link& lo = host.link("lo");
  lo.loopback = true;
  lo.ethernet = false;
  RecordedHost::address(lo, {127, 0, 0, 1}, 8);
  RecordedHost::address(host.pci_link("enP7s7", "0007:01:00.0", 10'000, -1), {192, 168, 1, 20}, 24);
  int network = 0;
  for (const auto& [name, rdma, pci] :
       {std::tuple{"enp1s0f1np1", "rocep1s0f1", "0000:01:00.1"},
        std::tuple{"enp1s0f0np0", "rocep1s0f0", "0000:01:00.0"},
        std::tuple{"enP2p1s0f0np0", "roceP2p1s0f0", "0002:01:00.0"},
        std::tuple{"enP2p1s0f1np1", "roceP2p1s0f1", "0002:01:00.1"}}) {
    sys::Link& link = host.pci_link(name, pci, 200'000, -1);
    link.mtu = 9000;
    link.hardware_address = "4c:bb:47:00:00:0" + std::to_string(network);
    RecordedHost::address(link, {198, 18, static_cast<std::uint8_t>(network++), 1}, 24);
    host.rdma(rdma, name, "4cbb:4703:0000:0000");
  }
  host.pci_link("wlP9s9", "0009:01:00.0", -1, -1);
  std::filesystem::create_directories(host.sysfs() + "/class/net/wlP9s9/phy80211");
}

}  // namespace sircl::test
