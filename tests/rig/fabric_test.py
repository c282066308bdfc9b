#!/usr/bin/env python3
"""The rig itself: its lanes, its faults, its rates, its counters, and that nothing stays behind.

    fabric_test.py RIG_MEMBER
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

from fabric import Fabric, only_where_permitted

TRAFFIC = [sys.executable, str(pathlib.Path(__file__).with_name("traffic.py"))]
RATE_BYTES_PER_S = 125e6 / 8


def check(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: wanted {wanted}, got {got}")
    print(f"{what}: {got}", flush=True)


def check_near(what, wanted, got, tolerance):
    if abs(got / wanted - 1) > tolerance:
        sys.exit(f"{what}: wanted {wanted:.0f} within {tolerance:.0%}, got {got:.0f}")
    print(f"{what}: {got:.0f}, {got / wanted:.1%} of {wanted:.0f}", flush=True)


def serve(fabric):
    servers = [fabric.start_on(node, [*TRAFFIC, "serve"]) for node in range(fabric.nodes)]
    for server in servers:
        while "serving" not in server.output():
            if server.poll() is not None:
                sys.exit(f"no server: {server.output()}")
            time.sleep(0.01)


def answers(fabric, asked):
    """Which of (node, interface, address) get an answer."""
    programs = [fabric.start_on(node, [*TRAFFIC, "ask", interface, address]) for node, interface, address in asked]
    return [code == 0 for code, _ in fabric.finish(programs)]


def lane_questions(fabric, cable, lane):
    east, west = fabric.ends(cable, lane)
    return [(east.node, east.interface, west.address), (west.node, west.interface, east.address)]


def lanes_and_faults():
    with Fabric("ring:4", lanes=2) as fabric:
        serve(fabric)
        every = [question for lane in fabric.all_lanes() for question in lane_questions(fabric, *lane)]
        check("answers over all lanes, both ways", [True] * 16, answers(fabric, every))
        check("answers over the LAN", [True] * 4,
              answers(fabric, [(node, "lan", fabric.lan_address((node + 2) % 4)) for node in range(4)]))
        # Node 0's neighbours both have an address in subnets of node 2. Nobody passes it on.
        opposite = [(0, interface, end.address) for interface in ("p0l0", "p0l1", "p1l0", "p1l1")
                    for end in fabric.ends_of(2)]
        check("answers from the opposite node", [False] * 16, answers(fabric, opposite))

        fabric.cut_lane(1, 0)
        check("answers over a cut lane and the other of its cable", [False, False, True, True],
              answers(fabric, lane_questions(fabric, 1, 0) + lane_questions(fabric, 1, 1)))
        fabric.cut_cable(1)
        check("answers over a cut cable", [False] * 4,
              answers(fabric, lane_questions(fabric, 1, 0) + lane_questions(fabric, 1, 1)))
        fabric.restore_cable(1)
        check("answers over the restored cable", [True] * 4,
              answers(fabric, lane_questions(fabric, 1, 0) + lane_questions(fabric, 1, 1)))

        fabric.swap_ports(1)
        check("answers over the cables of swapped ports", [False] * 8,
              answers(fabric, [question for lane in fabric.all_lanes() if lane[0] in (0, 1)
                               for question in lane_questions(fabric, *lane)]))
        fabric.repair_addresses()
        fabric.static_routes()
        ways = fabric.namespaces[0].sh("ip", "route", "get", fabric.node_address(2))
        check("a route to the opposite node", True, fabric.node_address(0) in ways)
        asked = fabric.start_on(0, [sys.executable, "-c", "import socket, sys; s = socket.create_connection((sys.argv[1], 7000), 3);"
                                    "s.shutdown(1); sys.exit(s.recv(8) != bytes(8))", fabric.node_address(2)])
        check("a connection to the opposite node, forwarded", 0, asked.wait(10))

        fabric.decoy(0)
        fabric.decoy(2)
        check("the second LAN", [True], answers(fabric, [(0, "wlp1s0", "192.168.1.3")]))
        fabric.kill_node(3)
        check("answers from a killed node", [False] * 2,
              answers(fabric, [(0, "lan", fabric.lan_address(3)), (0, "p1l0", fabric.ends(3, 0)[0].address)]))


def rates_and_counters():
    with Fabric("pair", lanes=2, rate="125mbit") as fabric:
        serve(fabric)
        before = fabric.lane_counters()
        east, west = fabric.ends(0, 0)
        fabric.rate(0, 1, "62.5mbit")
        slow_east, slow_west = fabric.ends(0, 1)
        programs = [fabric.start_on(east.node, [*TRAFFIC, "pour", east.interface, west.address, "2"]),
                    fabric.start_on(west.node, [*TRAFFIC, "pour", west.interface, east.address, "2"]),
                    fabric.start_on(slow_east.node, [*TRAFFIC, "pour", slow_east.interface, slow_west.address, "2"])]
        results = [text.split() for _, text in fabric.finish(programs)]
        after = fabric.lane_counters()
        wanted = {"east": RATE_BYTES_PER_S, "west": RATE_BYTES_PER_S, "half": RATE_BYTES_PER_S / 2}
        for (name, rate), (got, seconds) in zip(wanted.items(), results):
            check_near(f"bytes per second, {name}", rate, int(got) / float(seconds), 0.15)
        # 52 bytes of headers above IP in packets of 9000, 14 below; acknowledgements go the other way.
        check_near("bytes counted eastwards", int(results[0][0]) * 9014 / 8948,
                   after[0, 0, "east"] - before[0, 0, "east"], 0.05)
        check_near("bytes counted on the slow lane", int(results[2][0]) * 9014 / 8948,
                   after[0, 1, "east"] - before[0, 1, "east"], 0.01)
        fabric.mtu(0, 0, 1500)
        text = fabric.namespaces[0].sh("ip", "link", "show", "p0l0")
        check("a small MTU at one end", True, "mtu 1500" in text)
        check("and only there", True, "mtu 9000" in fabric.namespaces[1].sh("ip", "link", "show", "p1l0"))


def library(member):
    """The library on the LAN of four hosts."""
    with Fabric("ring:4", lanes=2) as fabric:
        order = [2, 0, 3, 1]
        for rank, (code, text) in enumerate(fabric.run([member], order=order, env={"SIRCL_FABRIC": "auto"})):
            if code != 0 or "added on 4 ranks" not in text:
                sys.exit(f"rank {rank} ended with {code}:\n{text}")
        print("the library over four nodes: right")
        sleeper, = fabric.start(["sleep", "100"], order=[0])
        sleeper.kill()
        check("a killed program", -signal.SIGKILL, sleeper.wait(5))
        (code, text), = fabric.run(["sh", "-c", "echo $SIRCL_RANK $WORD; exit 3"], order=[0],
                                   env=lambda rank: {"WORD": f"word{rank}"})
        check("a program's output and exit code", ("0 word0\n", 3), (text, code))


def traces():
    """Links and processes that a rig could have left behind."""
    links = subprocess.run(["ip", "-oneline", "link"], capture_output=True, text=True, check=True).stdout
    names = sorted(line.split()[1] for line in links.splitlines())
    mounts = len(pathlib.Path("/proc/self/mounts").read_text().splitlines())
    marker = b"RIG_TEST_OF=%d\0" % os.getpid()
    running = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and int(folder.name) != os.getpid() and marker in (folder / "environ").read_bytes():
                running.append((folder / "cmdline").read_bytes().replace(b"\0", b" "))
        except (OSError, ValueError):
            pass  # has ended meanwhile, or is somebody else's
    return names, mounts, running


def killed_in_the_middle():
    before = traces()
    script = ("import sys, time; from fabric import Fabric\n"
              "with Fabric('ring:4', lanes=2) as f:\n"
              "    f.start(['sleep', '1000']); print('built', flush=True); time.sleep(1000)\n")
    victim = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                              cwd=pathlib.Path(__file__).parent)
    check("a rig to kill", "built\n", victim.stdout.readline())
    if len(traces()[2]) < 10:
        sys.exit("the search for processes finds none")
    victim.kill()
    victim.wait()
    until = time.monotonic() + 10
    while traces() != before and time.monotonic() < until:
        time.sleep(0.02)
    check("traces after SIGKILL", before, traces())


def main():
    member = os.path.abspath(sys.argv[1])
    # Everything started from here on can be found by it.
    os.environ["RIG_TEST_OF"] = str(os.getpid())
    before = traces()
    with Fabric("pair"):  # whether it is permitted at all
        pass
    lanes_and_faults()
    rates_and_counters()
    library(member)
    check("traces", before, traces())
    killed_in_the_middle()
    return 0


if __name__ == "__main__":
    only_where_permitted(main)
