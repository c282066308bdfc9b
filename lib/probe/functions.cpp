#include "probe/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

#include "probe/sysfs.hpp"
#include "sys/interface.hpp"

namespace sircl::probe {
namespace {

struct Device {
  sys::Link link;
  InterfaceFacts facts;
};

/// SIRCL_DEVICES: "a,b" (names that start so), "=a" (exactly these), "^a" (all but those).
class Selection {
 public:
  explicit Selection(const std::string& list) {
    std::string_view rest = list;
    except_ = !rest.empty() && rest.front() == '^';
    if (except_) rest.remove_prefix(1);
    exact_ = !rest.empty() && rest.front() == '=';
    if (exact_) rest.remove_prefix(1);
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) entries_.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }

  /// Names something, not just what is left out.
  [[nodiscard]] bool names() const { return !except_ && !entries_.empty(); }
  [[nodiscard]] const std::vector<std::string>& entries() const { return entries_; }
  [[nodiscard]] bool means(const std::string& entry, const Device& device) const {
    const std::string alone = (exact_ ? "=" : "") + entry;
    return matches(alone, device.link.name) || matches(alone, device.facts.rdma_device);
  }
  [[nodiscard]] bool has(const Device& device) const {
    if (entries_.empty()) return true;
    const bool meant = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const auto& entry) { return means(entry, device); });
    return meant != except_;
  }
  /// By its whole name, so that there is no doubt that it is wanted.
  [[nodiscard]] bool insists_on(const Device& device) const {
    return names() && std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
             return entry == device.link.name || entry == device.facts.rdma_device;
           });
  }

 private:
  static bool matches(const std::string& list, const std::string& name) {
    return !name.empty() && sys::interface_matches(list, name);
  }
  std::vector<std::string> entries_;
  bool except_ = false;
  bool exact_ = false;
};

/// Why it cannot carry lanes by itself; nothing: it may. Without a link or an address it may still:
/// a cable that is missing is to be named.
std::optional<std::string> unfit(const Device& device) {
  const sys::Link& link = device.link;
  if (link.loopback) return "loopback";
  if (device.facts.wireless) return "wireless";
  // A virtual Ethernet cable is one; bridges, tunnels and the like only lead to others.
  if (!link.kind.empty() && link.kind != "veth") return fmt::format("virtual ({})", link.kind);
  if (!link.ethernet) return "not Ethernet";
  if (!device.facts.master.empty()) return fmt::format("a member of {}", device.facts.master);
  return std::nullopt;
}

std::optional<std::string> why_not(const Device& device, const Selection& selection,
                                   const Wanted& wanted) {
  if (selection.insists_on(device)) return std::nullopt;
  if (auto why = unfit(device)) return why;
  if (device.link.name == wanted.management) return "the management network";
  if (!selection.has(device)) return fmt::format("not in SIRCL_DEVICES={}", wanted.devices);
  return std::nullopt;
}

std::string label(const Device& device) {
  return device.facts.rdma_device.empty()
             ? device.link.name
             : fmt::format("{} ({})", device.link.name, device.facts.rdma_device);
}

Status check_names(const Selection& selection, const std::vector<Device>& devices) {
  if (!selection.names()) return {};
  for (const auto& entry : selection.entries()) {
    const auto is_meant = [&](const Device& one) { return selection.means(entry, one); };
    if (std::any_of(devices.begin(), devices.end(), is_meant)) continue;
    std::vector<std::string> labels;
    for (const Device& device : devices) labels.push_back(label(device));
    return {StatusCode::invalid_setting,
            fmt::format("SIRCL_DEVICES names '{}', but no interface or RDMA device of this host is "
                        "called so; there are {}",
                        entry, fmt::join(labels, ", "))};
  }
  return {};
}

topology::Address to_address(const sys::InterfaceAddress& from) {
  return {from.v6 ? topology::AddressFamily::v6 : topology::AddressFamily::v4, from.bytes,
          from.prefix_length};
}

topology::Function to_function(const Device& device) {
  topology::Function function;
  function.interface = device.link.name;
  for (const auto& address : device.link.addresses) {
    function.addresses.push_back(to_address(address));
  }
  function.mtu = device.link.mtu;
  function.speed_mbps = device.facts.speed_mbps;
  function.up = device.link.up;
  function.hardware_address = device.link.hardware_address;
  function.rdma_device = device.facts.rdma_device;
  function.rdma_port = device.facts.rdma_port;
  function.pci_address = device.facts.pci_address;
  function.numa_node = device.facts.numa_node;
  return function;
}

/// A socket of a ConnectX-7 may be shown by two PCIe functions in two PCI domains. They are of one
/// card, or else at the same place of either domain.
bool same_socket(const InterfaceFacts& a, const InterfaceFacts& b) {
  if (a.port_name.empty() || a.port_name != b.port_name) return false;
  if (!a.rdma_card.empty() && a.rdma_card == b.rdma_card) return true;
  const std::size_t a_domain = a.pci_address.find(':');
  const std::size_t b_domain = b.pci_address.find(':');
  if (a_domain == std::string::npos || b_domain == std::string::npos) return false;
  return a.pci_address.substr(a_domain) == b.pci_address.substr(b_domain);
}

/// Sockets are numbered in the order in which the functions are listed.
void number_ports(const std::vector<Device>& devices, topology::Functions& functions) {
  int next = 0;
  for (std::size_t at = 0; at < functions.size(); ++at) {
    if (devices[at].facts.port_name.empty()) continue;
    for (std::size_t before = 0; before < at && functions[at].port < 0; ++before) {
      if (same_socket(devices[before].facts, devices[at].facts)) {
        functions[at].port = functions[before].port;
      }
    }
    if (functions[at].port < 0) functions[at].port = next++;
  }
}

}  // namespace

Result<Found> functions(sys::LinkTable& links, const std::string& sysfs, const Wanted& wanted) {
  auto all = links.read();
  if (!all) return all.status();
  std::vector<Device> devices;
  for (sys::Link& link : *all) {
    InterfaceFacts facts = read_facts(sysfs, link.name);
    devices.push_back({std::move(link), std::move(facts)});
  }
  // The order of the kernel depends on which driver was first at boot.
  std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
    return std::tie(a.facts.pci_address, a.link.name) < std::tie(b.facts.pci_address, b.link.name);
  });
  const Selection selection(wanted.devices);
  if (Status status = check_names(selection, devices); !status.ok()) return status;
  Found found;
  std::vector<Device> taken;
  for (Device& device : devices) {
    if (auto why = why_not(device, selection, wanted)) {
      found.left_out.push_back({device.link.name, *std::move(why)});
    } else {
      found.functions.push_back(to_function(device));
      taken.push_back(std::move(device));
    }
  }
  number_ports(taken, found.functions);
  return found;
}

}  // namespace sircl::probe
