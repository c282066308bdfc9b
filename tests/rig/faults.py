"""What can go wrong with a fabric, done to one. Cables and lanes as in fabric.py."""
import sys
import time

# A tunnel has a carrier only while a program has it open.
HOLD_TUNNEL = """
import fcntl, signal, struct
tunnel = open("/dev/net/tun", "r+b", buffering=0)
fcntl.ioctl(tunnel, 0x400454CA, struct.pack("16sH22x", b"tailscale0", 0x1001))
print("open", flush=True)
signal.pause()
"""


class Faults:
    """Base of Fabric: needs its nodes, ends and namespaces."""

    def _set(self, cable, lane, words, ends=(0, 1)):
        for which in ends:
            end = self.ends(cable, lane)[which]
            space = self.namespaces[end.node]
            if space is not None:
                space.ip(f"link set dev {end.interface} {words}")

    def cut_lane(self, cable, lane, end=0):
        """The other end stays up, but without a carrier, as both would be with a cable pulled."""
        self._set(cable, lane, "down", (end,))

    def restore_lane(self, cable, lane):
        self._set(cable, lane, "up")

    def cut_cable(self, cable, end=0):
        for lane in range(self.lanes):
            self.cut_lane(cable, lane, end)

    def restore_cable(self, cable):
        for lane in range(self.lanes):
            self.restore_lane(cable, lane)

    def cables_of(self, node):
        return sorted({cable for cable, lane in self.all_lanes() for end in self.ends(cable, lane) if end.node == node})

    def kill_node(self, node):
        """Its processes end at once and its interfaces are gone, as with a machine that loses power."""
        self.namespaces[node].end()
        self.namespaces[node] = None

    def rate(self, cable, lane, rate, ends=(0, 1)):
        """Another rate for one lane, in both directions unless `ends` says less; None: no limit."""
        for which in ends:
            end = self.ends(cable, lane)[which]
            space = self.namespaces[end.node]
            if rate:
                space.tc(self._rate_line("replace", end.interface, rate))
            else:
                space.sh("tc", "qdisc", "delete", "dev", end.interface, "root")

    def mtu(self, cable, lane, mtu, end=0):
        self._set(cable, lane, f"mtu {mtu}", (end,))

    def _readdress(self, end, *prefixes):
        self.namespaces[end.node].ip(f"address flush dev {end.interface} scope global",
                                     *(f"address add {prefix} dev {end.interface}" for prefix in prefixes))

    def _subnet(self, end):
        return end.address.rsplit(".", 1)[0]

    def swap_ports(self, node):
        """The two cables of a node are in each other's port: the addresses stay with the ports."""
        for lane in range(self.lanes):
            east, = [end for end in self.ends_of(node) if end.interface == f"p0l{lane}"]
            west, = [end for end in self.ends_of(node) if end.interface == f"p1l{lane}"]
            self._readdress(east, west.prefix)
            self._readdress(west, east.prefix)

    def reverse_ports(self, node):
        """No mistake: the port names of a node are the other way round. Again to undo."""
        lines = []
        for lane in range(self.lanes):
            lines += [f"link set dev {old} down" for old in (f"p0l{lane}", f"p1l{lane}")]
            lines += [f"link set dev p0l{lane} name spare", f"link set dev p1l{lane} name p0l{lane}",
                      f"link set dev spare name p1l{lane}"]
            lines += [f"link set dev {new} up" for new in (f"p0l{lane}", f"p1l{lane}")]
        self.namespaces[node].ip(*lines)

    def same_prefix(self, node, wrong, right):
        """Interface `wrong` of a node gets an address in the subnet of interface `right`."""
        by_name = {end.interface: end for end in self.ends_of(node)}
        self._readdress(by_name[wrong], f"{self._subnet(by_name[right])}.{100 + node}/24")

    def duplicate_address(self, cable, lane):
        """Both ends of a lane have the same address."""
        first, second = self.ends(cable, lane)
        self._readdress(second, first.prefix)

    def link_local_only(self, cable, lane, end=0):
        """One end has lost its IPv4 address."""
        self._readdress(self.ends(cable, lane)[end])

    def repair_addresses(self):
        """Undoes what the four above did."""
        for lane in self.all_lanes():
            for end in self.ends(*lane):
                if self.namespaces[end.node] is not None:
                    self._readdress(end, end.prefix)

    def decoy(self, node):
        """Interfaces of a node that are no cables: a container bridge, a tunnel, and a second LAN."""
        space = self.namespaces[node]
        lines = []
        if not getattr(self, "_second_lan", False):
            lines = ["link add br1 type bridge", "link set br1 up"]
            self._second_lan = True
        lines += [f"link add wlan{node} master br1 type veth peer name wlp1s0 netns {space.pid}", f"link set wlan{node} up"]
        self.outer.ip_outside(*lines)
        tunnel = self.start_on(node, [sys.executable, "-c", HOLD_TUNNEL])
        while tunnel.poll() is None and "open" not in tunnel.output():
            time.sleep(0.002)
        space.ip(
            # The same address on every machine that has containers.
            "link add docker0 type bridge", "address add 172.17.0.1/16 dev docker0", "link set docker0 up",
            f"address add 100.64.0.{node + 1}/32 dev tailscale0",
            "link set tailscale0 mtu 1280 up",
            f"address add 192.168.1.{node + 1}/24 dev wlp1s0", "link set wlp1s0 up")

    def node_address(self, node):
        """The address that static_routes gives a node, whichever cable leads to it."""
        return f"10.9.0.{node + 1}"

    def static_routes(self):
        """What programs need that know no cables: an address per node, routes over all shortest ways, and
        forwarding."""
        east, west = {}, {}  # next ends by node
        for lane in self.all_lanes():
            near, far = self.ends(*lane)
            east.setdefault(near.node, []).append((near.interface, far.address))
            west.setdefault(far.node, []).append((far.interface, near.address))
        for node, space in enumerate(self.namespaces):
            lines = [f"address add {self.node_address(node)}/32 dev lo"]
            for other in range(self.nodes):
                if other == node:
                    continue
                ways = [(self._hops(node, other, +1), east.get(node, [])), (self._hops(node, other, -1), west.get(node, []))]
                shortest = min(hops for hops, _ in ways if hops)
                over = [hop for hops, next_ends in ways if hops == shortest for hop in next_ends]
                lines.append(f"route add {self.node_address(other)} src {self.node_address(node)} " +
                             " ".join(f"nexthop via {address} dev {interface}" for interface, address in over))
            space.sysctl(ipv4_ip_forward=1, ipv4_fib_multipath_hash_policy=1)
            space.ip(*lines)

    def _hops(self, node, other, step):
        """Cables in one direction; None where that is no way."""
        if self.kind == "path" or (self.kind == "pair" and self.cables == 1):
            return (other - node) * step if (other - node) * step > 0 else None
        return (other - node) * step % self.nodes
