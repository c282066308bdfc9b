#!/usr/bin/env python3
"""A fabric of network namespaces: a ring, path or pair of nodes, cables of several lanes, a LAN.

    python3 tests/rig/fabric.py ring:4 --lanes 2 --rate 125mbit -- PROGRAM ARGS   one rank on every node
    python3 tests/rig/fabric.py ring:4 --shell 2                                  a shell in node 2

Cable c leaves node c eastwards by its port 0 and reaches the next node at its port 1; lane l of it is
p0l<l> at one end, p1l<l> at the other, with 198.18.(c * lanes + l).0/24 on it. `lan` joins all nodes
(10.8.0.0/24), and nothing forwards. Everything is gone when this process ends in any way.
"""
import argparse
import dataclasses
import os
import sys
import time

from faults import Faults
from namespaces import Namespace, NotPermitted, Program

SKIPPED = 77
LAN = "10.8.0"
# Smaller bursts than this cannot hold a packet of 9000 bytes twice; larger ones hide the rate.
BURST_BYTES = 18_000


@dataclasses.dataclass(frozen=True)
class End:
    """One end of a lane."""
    node: int
    interface: str
    address: str

    @property
    def prefix(self):
        return f"{self.address}/24"


def parse(text):
    """Kind, nodes and cables of "ring:4", "path:3", "pair", "pair:1" or "pair:2" (cables)."""
    kind, _, number = text.partition(":")
    number = int(number) if number else 1
    if kind == "ring" and number >= 3:
        return kind, number, number
    if kind == "path" and number >= 3:
        return kind, number, number - 1
    if kind == "pair" and number in (1, 2):
        return kind, 2, number
    raise ValueError(f"{text}: wanted ring:N or path:N with N from 3, pair:1 or pair:2")


class Fabric(Faults):
    """Nodes and cables, from `with` to its end. Faults are methods of the base."""

    def __init__(self, shape, lanes=2, rate=None, mtu=9000, gso=False):
        self.kind, self.nodes, self.cables = parse(shape)
        self.lanes, self.default_rate, self.default_mtu, self.gso = lanes, rate, mtu, gso
        self.namespaces = []
        self.programs = []
        self.last_port = 20_000  # of the group that was started last

    @property
    def name(self):
        """As SIRCL_FABRIC names it."""
        return "pair" if self.kind == "pair" else f"{self.kind}:{self.nodes}"

    def __enter__(self):
        self.outer = Namespace()
        try:
            self._build()
        except BaseException:
            self.outer.end()
            raise
        return self

    def __exit__(self, *_):
        self.outer.end()
        for program in self.programs:
            program.wait()

    def ends(self, cable, lane):
        """The end where the cable leaves its node eastwards, and the one at the next node."""
        subnet = f"198.18.{cable * self.lanes + lane}"
        return (End(cable, f"p0l{lane}", f"{subnet}.1"),
                End((cable + 1) % self.nodes, f"p1l{lane}", f"{subnet}.2"))

    def all_lanes(self):
        return [(cable, lane) for cable in range(self.cables) for lane in range(self.lanes)]

    def ends_of(self, node):
        return [end for lane in self.all_lanes() for end in self.ends(*lane) if end.node == node]

    def _build(self):
        self.namespaces = [Namespace(self.outer, f"node{node}") for node in range(self.nodes)]
        lines = ["link add br0 type bridge", f"address add {LAN}.254/24 dev br0", "link set br0 up"]
        for node, space in enumerate(self.namespaces):
            lines += [f"link add lan{node} master br0 type veth peer name lan netns {space.pid}", f"link set lan{node} up"]
        for lane in self.all_lanes():
            east, west = self.ends(*lane)
            lines.append(f"link add {east.interface} mtu {self.default_mtu} netns {self.namespaces[east.node].pid} "
                         f"type veth peer name {west.interface} mtu {self.default_mtu} "
                         f"netns {self.namespaces[west.node].pid}")
        self.outer.ip_outside(*lines)
        for node, space in enumerate(self.namespaces):
            # IPv6 addresses are usable at once: nobody else can have them.
            space.sysctl(ipv4_ip_forward=0, ipv6_conf__all__forwarding=0, ipv6_conf__all__accept_dad=0,
                         ipv6_conf__default__accept_dad=0)
            space.ip(f"address add {self.lan_address(node)}/24 dev lan", "link set lan up",
                     *(line for end in self.ends_of(node) for line in (
                         f"address add {end.prefix} dev {end.interface}",
                         f"link set dev {end.interface} {'' if self.gso else 'gso_max_segs 1'} up")))
            if self.default_rate:
                space.tc(*(self._rate_line("add", end.interface, self.default_rate) for end in self.ends_of(node)))
        self._wait_for_links()

    def _rate_line(self, verb, interface, rate):
        return f"qdisc {verb} dev {interface} root tbf rate {rate} burst {BURST_BYTES} latency 200ms"

    def _wait_for_links(self):
        """A veth has its carrier a little after its peer is up."""
        until = time.monotonic() + 5
        for node, space in enumerate(self.namespaces):
            for interface in ["lan", *(end.interface for end in self.ends_of(node))]:
                while space.root(f"/sys/class/net/{interface}/operstate").read_text() != "up\n":
                    if time.monotonic() > until:
                        raise RuntimeError(f"node {node}: {interface} does not come up")
                    time.sleep(0.002)

    def lan_address(self, node):
        return f"{LAN}.{node + 1}"

    # Programs.

    def start(self, argv, order=None, env=None, bare=False):
        """A program on every node, `order` being their ranks by node. The programs by rank.

        `env`: values by name, or a function of the rank that gives such; a value may be a function of the
        rank too, and None takes the name away. `bare`: nothing that tells a rank who it is.
        """
        order = list(order) if order else list(range(self.nodes))
        self.last_port += 1
        root = f"{self.lan_address(order.index(0))}:{self.last_port}"
        programs = {}
        for node, rank in enumerate(order):
            own = {"SIRCL_RANK": rank, "SIRCL_SIZE": len(order), "SIRCL_ROOT": root, "SIRCL_SECRET": "rig",
                   "SIRCL_SOCKET_IFNAME": "=lan"} if not bare else {}
            # Who waits longer than this waits for something that does not come.
            own["SIRCL_STARTUP_WAIT_S"] = os.environ.get("SIRCL_STARTUP_WAIT_S", 30)
            own.update((env(rank) if callable(env) else env) or {})
            whole = dict(os.environ)
            for name, value in own.items():
                value = value(rank) if callable(value) else value
                whole.pop(name, None)
                if value is not None:
                    whole[name] = str(value)
            programs[rank] = self.start_on(node, argv, whole)
        return [programs[rank] for rank in sorted(programs)]

    def start_on(self, node, argv, env=None):
        """One program on one node, or beside the nodes on the LAN (None)."""
        space = self.outer if node is None else self.namespaces[node]
        self.programs.append(Program(space, argv, dict(os.environ) if env is None else env))
        return self.programs[-1]

    def run(self, argv, order=None, env=None, timeout=60, bare=False):
        """The same to its end: (exit code, output) by rank. Who is not done in time is killed: code None."""
        return self.finish(self.start(argv, order, env, bare), timeout)

    def finish(self, programs, timeout=60):
        until = time.monotonic() + timeout
        codes = [program.wait(max(0, until - time.monotonic())) for program in programs]
        for program, code in zip(programs, codes):
            if code is None:
                program.kill()
                program.wait()
        return [(code, program.output()) for program, code in zip(programs, codes)]

    # What went over the cables.

    def counters(self):
        """Bytes by (node, interface, "tx" or "rx"), Ethernet headers included."""
        counted = {}
        for node, space in enumerate(self.namespaces):
            if space is None:
                continue
            for interface in space.root("/sys/class/net").iterdir():
                for way in ("tx", "rx"):
                    file = interface / "statistics" / f"{way}_bytes"
                    counted[node, interface.name, way] = int(file.read_text())
        return counted

    def lane_counters(self):
        """Bytes sent by (cable, lane, "east" or "west")."""
        counted = self.counters()
        return {(cable, lane, way): counted[end.node, end.interface, "tx"]
                for cable, lane in self.all_lanes()
                for way, end in zip(("east", "west"), self.ends(cable, lane))}


def only_where_permitted(body):
    """Runs body() and ends the process; with the code for a skipped test where namespaces are not permitted."""
    try:
        sys.exit(body())
    except NotPermitted as why:
        print(f"skipped: no namespaces here ({why})")
        sys.exit(SKIPPED)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", help="ring:N, path:N, pair:1 or pair:2 (cables)")
    parser.add_argument("--lanes", type=int, default=2, help="per cable")
    parser.add_argument("--rate", help="of each lane and direction, as tc writes it: 125mbit")
    parser.add_argument("--mtu", type=int, default=9000)
    parser.add_argument("--gso", action="store_true", help="let the kernel send large packets that are cut later")
    parser.add_argument("--lane-rate", action="append", default=[], metavar="CABLE,LANE,RATE", help="of one lane")
    parser.add_argument("--order", help="ranks by node: 2,0,3,1")
    parser.add_argument("--shell", type=int, metavar="NODE", help="a shell there instead of a program")
    parser.add_argument("--bare", action="store_true",
                        help="do not say who is which rank; node addresses, static routes and forwarding")
    parser.add_argument("--only", type=int, metavar="NODE", help="run the program there only")
    parser.add_argument("--timeout", type=float, default=600, help="seconds")
    parser.add_argument("--bytes", action="store_true", help="print the bytes that every lane carried")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    given, program = parser.parse_args(words[:cut]), words[cut + 1:]
    if not program and given.shell is None:
        parser.error("no program: write -- PROGRAM ARGS at the end")
    with Fabric(given.shape, given.lanes, given.rate, given.mtu, given.gso) as fabric:
        for one in given.lane_rate:
            cable, lane, rate = one.split(",")
            fabric.rate(int(cable), int(lane), rate)
        if given.bare:
            fabric.static_routes()
        if given.shell is not None:
            return os.spawnvp(os.P_WAIT, "nsenter",
                              [*fabric.namespaces[given.shell].enter(), os.environ.get("SHELL", "sh")])
        before = fabric.lane_counters()
        if given.only is not None:
            results = fabric.finish([fabric.start_on(given.only, program)], given.timeout)
        else:
            order = [int(rank) for rank in given.order.split(",")] if given.order else None
            results = fabric.run(program, order, timeout=given.timeout, bare=given.bare)
        for rank, (code, text) in enumerate(results):
            if code is None:
                text += f"not done after {given.timeout:g} s\n"
            # What all say is said once.
            if rank == 0 or text != results[0][1]:
                prefix = "" if rank == 0 else f"{rank}: "
                print("".join(prefix + line for line in text.splitlines(keepends=True)), end="", flush=True)
        if given.bytes:
            for (cable, lane, way), count in fabric.lane_counters().items():
                print(f"# cable {cable} lane {lane} {way}: {count - before[cable, lane, way]} bytes")
    return max(1 if code is None else abs(code) for code, _ in results)


if __name__ == "__main__":
    only_where_permitted(main)
