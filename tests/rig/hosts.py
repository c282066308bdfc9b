#!/usr/bin/env python3
"""Ranks on two hosts that are namespaces of this machine: of network, processes and host name.

Each host has a `cable` that leads nowhere, with an address of its own that comes first, and `lan`,
on which the hosts reach each other.
"""
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
HOSTS = 2
RANKS_PER_HOST = 2


def sh(*words, at=None):
    enter = ["nsenter", "-t", str(at), "-n", "-u", "-p", "-m"] if at else []
    subprocess.run([*enter, *words], check=True)


def inside():
    """Makes the hosts; the process that stands for each, by host."""
    inits = []
    for host in range(HOSTS):
        unshare = subprocess.Popen(
            ["unshare", "--net", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c",
             f"hostname node{host} && echo up && exec sleep 300"], stdout=subprocess.PIPE, text=True)
        if unshare.stdout.readline() != "up\n":
            sys.exit("a host did not start")
        children = pathlib.Path(f"/proc/{unshare.pid}/task/{unshare.pid}/children").read_text()
        inits.append((unshare, int(children.split()[0])))
    # The cable's index must be the lower one, so that it comes first among the interfaces.
    for host, (_, at) in enumerate(inits):
        sh("ip", "link", "add", "cable", "type", "veth", "peer", "name", "loose", at=at)
        sh("ip", "address", "add", f"198.18.{host}.1/24", "dev", "cable", at=at)
        for interface in ("lo", "cable", "loose"):
            sh("ip", "link", "set", interface, "up", at=at)
    sh("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1")
    for host, (_, at) in enumerate(inits):
        sh("ip", "link", "set", f"lan{host}", "netns", str(at))
        sh("ip", "link", "set", f"lan{host}", "name", "lan", at=at)
        sh("ip", "address", "add", f"10.8.0.{host + 1}/24", "dev", "lan", at=at)
        sh("ip", "link", "set", "lan", "up", at=at)
    return inits


def run(inits, member, port, **settings):
    """Every rank's exit code and text. A setting may be a function of the rank."""
    size = HOSTS * RANKS_PER_HOST
    ranks = []
    for rank in range(size):
        own = {name: str(value(rank) if callable(value) else value) for name, value in settings.items()}
        environment = {**os.environ, "SIRCL_RANK": str(rank), "SIRCL_SIZE": str(size),
                       "SIRCL_ROOT": f"10.8.0.1:{port}", "SIRCL_SECRET": "rig", "SIRCL_STARTUP_WAIT_S": "20",
                       **{name: value for name, value in own.items() if value}}
        at = inits[rank // RANKS_PER_HOST][1]
        ranks.append(subprocess.Popen(["nsenter", "-t", str(at), "-n", "-u", "-p", "-m", member],
                                      env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True))
    return [(text, rank.returncode) for rank in ranks for text in [rank.communicate(timeout=60)[0]]]


def check(name, results, wanted_code, *parts):
    for rank, (text, code) in enumerate(results):
        for part in parts:
            if code != wanted_code or part not in text:
                sys.exit(f"{name}: rank {rank} ended with {code}, wanted {wanted_code} and '{part}':\n{text}")
    print(f"{name}: as it should be on all {len(results)} ranks")


def main(member):
    inits = inside()
    try:
        check("without a word about addresses", run(inits, member, 20001), 0,
              "Transport: sircl (tcp)", "hosts: node0 (ranks 0-1), node1 (ranks 2-3)",
              "added on 4 ranks and on 2")
        check("an interface by name", run(inits, member, 20002, SIRCL_SOCKET_IFNAME="=lan"), 0,
              "added on 4 ranks and on 2")
        check("an address", run(inits, member, 20003, SIRCL_SOCKET_IFNAME="nothing",
                                SIRCL_TCP_HOST=lambda rank: f"10.8.0.{rank // RANKS_PER_HOST + 1}"), 0,
              "added on 4 ranks and on 2")
        check("no such interface on one rank",
              run(inits, member, 20004, SIRCL_SOCKET_IFNAME=lambda rank: "wan" if rank == 3 else ""), 1,
              "rank 3: SIRCL_SOCKET_IFNAME=wan", "cable")
        # Ranks that only wait to be called must hear of it long before the start-up limit.
        check("an interface that leads elsewhere",
              run(inits, member, 20005, SIRCL_SOCKET_IFNAME="cable", SIRCL_STARTUP_WAIT_S=600), 1, "cannot reach rank", "198.18.")
        check("shared memory between hosts", run(inits, member, 20006, SIRCL_TRANSPORT="shm"), 1,
              "only 2 of 4 ranks share the host")
    finally:
        for unshare, _ in inits:
            unshare.kill()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        own = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--mount-proc",
               "--kill-child"]
        try:
            permitted = subprocess.run([*own, "ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"],
                                       capture_output=True, text=True)
        except FileNotFoundError as missing:
            print(f"skipped: {missing}")
            sys.exit(SKIPPED)
        if permitted.returncode != 0:
            print(f"skipped: no namespaces here ({permitted.stderr.strip()})")
            sys.exit(SKIPPED)
        sys.exit(subprocess.run([*own, sys.executable, __file__, sys.argv[1], "inside"]).returncode)
    main(os.path.abspath(sys.argv[1]))
