#include "probe/sysfs.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace sircl::probe {
namespace {

namespace fs = std::filesystem;

/// The first line; empty where there is none or the kernel refuses to tell.
std::string read_line(const fs::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> read_number(const fs::path& path) {
  const std::string line = read_line(path);
  std::int64_t number = 0;
  const char* end = line.data() + line.size();
  const auto [at, error] = std::from_chars(line.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "0000:01:00.0", with a domain of any length.
bool is_pci_address(std::string_view name) {
  const auto is_hex = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(),
                                        [](unsigned char one) { return std::isxdigit(one) != 0; });
  };
  if (name.size() < 12) return false;
  const std::string_view rest = name.substr(name.size() - 8);  // ":01:00.0"
  return is_hex(name.substr(0, name.size() - 8)) && rest[0] == ':' && is_hex(rest.substr(1, 2)) &&
         rest[3] == ':' && is_hex(rest.substr(4, 2)) && rest[6] == '.' && is_hex(rest.substr(7));
}

/// The nearest one above: behind a virtio device, for example, is another that is on PCI.
std::string pci_address(const fs::path& device) {
  std::error_code error;
  fs::path at = fs::canonical(device, error);
  while (!error && at.has_relative_path()) {
    if (std::string name = at.filename(); is_pci_address(name)) return name;
    at = at.parent_path();
  }
  return {};
}

/// A driver that does not know says -1, in 32 bits or in more.
std::int64_t speed(const fs::path& net) {
  constexpr std::int64_t kMost = 100'000'000;
  const auto number = read_number(net / "speed").value_or(0);
  return number > 0 && number < kMost ? number : 0;
}

bool has_interface(const fs::path& port, const std::string& interface) {
  const fs::path list = port / "gid_attrs/ndevs";
  const auto entries = names_in(list);
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return read_line(list / entry) == interface;
  });
}

/// The port of `device` behind an interface; 0: none. A port without an address has no GIDs that
/// would name its interface, so the number that the driver gives counts then.
int rdma_port(const fs::path& device, const fs::path& net, const std::string& interface) {
  const auto number = [](const std::string& name) {
    int value = 0;
    std::from_chars(name.data(), name.data() + name.size(), value);
    return value;
  };
  const auto ports = names_in(device / "ports");
  for (const auto& port : ports) {
    if (has_interface(device / "ports" / port, interface)) return number(port);
  }
  const std::string next = std::to_string(read_number(net / "dev_port").value_or(0) + 1);
  return std::find(ports.begin(), ports.end(), next) == ports.end() ? 0 : number(next);
}

void read_rdma(const fs::path& sysfs, const std::string& interface, InterfaceFacts& facts) {
  const fs::path net = sysfs / "class/net" / interface;
  for (const auto& name : names_in(net / "device/infiniband")) {
    const fs::path device = sysfs / "class/infiniband" / name;
    const int port = rdma_port(device, net, interface);
    if (port == 0) continue;
    facts.rdma_device = name;
    facts.rdma_port = port;
    facts.rdma_card = read_line(device / "sys_image_guid");
    return;
  }
}

/// Where the driver names no port, the interface's name may: "enp1s0f1np1" has "p1".
std::string port_name(const fs::path& net, const std::string& interface) {
  if (std::string name = read_line(net / "phys_port_name"); !name.empty()) return name;
  const std::size_t at = interface.rfind("np");
  if (at == std::string::npos || at == 0 || at + 2 == interface.size()) return {};
  const bool digits =
      std::all_of(interface.begin() + static_cast<std::ptrdiff_t>(at) + 2, interface.end(),
                  [](unsigned char one) { return std::isdigit(one) != 0; });
  return digits ? interface.substr(at + 1) : std::string();
}

}  // namespace

InterfaceFacts read_facts(const std::string& sysfs, const std::string& interface) {
  const fs::path net = fs::path(sysfs) / "class/net" / interface;
  InterfaceFacts facts;
  facts.wireless =
      is_there(net / "wireless") || is_there(net / "phy80211") || interface.rfind("wl", 0) == 0;
  std::error_code error;
  facts.master = fs::read_symlink(net / "master", error).filename();
  facts.speed_mbps = speed(net);
  facts.pci_address = pci_address(net / "device");
  // Not by hwloc, which can only look at the machine that it runs on.
  facts.numa_node = static_cast<int>(read_number(net / "device/numa_node").value_or(-1));
  read_rdma(sysfs, interface, facts);
  facts.port_name = port_name(net, interface);
  return facts;
}

}  // namespace sircl::probe
