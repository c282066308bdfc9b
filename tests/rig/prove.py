#!/usr/bin/env python3
"""Ranks find out over the cables themselves which of their functions reach each other.

    prove.py PROVE_MEMBER
"""
import os
import subprocess
import sys

from fabric import Fabric, only_where_permitted

LIMIT_MS = 2000
failures = 0


def prove(fabric):
    """Sets of (by, from) of what was heard, addressed and on the link, and the milliseconds."""
    outer = fabric.outer
    user = ["--user", "--preserve-credentials"] if outer._user else []
    # The processes as this script sees them, the network of none of the nodes.
    done = subprocess.run(["nsenter", "--target", str(outer.pid), "--net", *user, sys.argv[1], str(LIMIT_MS),
                           *(str(space.pid) for space in fabric.namespaces)],
                          capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"prove_member ended with {done.returncode}: {done.stdout}{done.stderr}")
    heard = {"addressed": set(), "link": set()}
    *lines, took = done.stdout.splitlines()
    for line in lines:
        by_rank, by, from_rank, sender, kind = line.split()
        heard[kind].add(((int(by_rank), by), (int(from_rank), sender)))
    return heard["addressed"], heard["link"], float(took.split()[1])


def cabled(fabric, without=()):
    """What is heard when every lane but some works: both directions of each."""
    both = set()
    for lane in fabric.all_lanes():
        east, west = ((end.node, end.interface) for end in fabric.ends(*lane))
        if lane not in without:
            both |= {(east, west), (west, east)}
    return both


def check(what, good, detail):
    global failures
    print(f"{'ok' if good else 'NOT OK'}: {what}", flush=True)
    if not good:
        failures += 1
        print(f"  {detail}")


def compare(what, heard, expected):
    check(what, heard == expected, f"missing {sorted(expected - heard)}, too much {sorted(heard - expected)}")


def straight(fabric):
    addressed, link, took = prove(fabric)
    compare(f"every lane is proved both ways ({took:.1f} ms)", addressed, cabled(fabric))
    check("multicast tells nothing but the truth", link <= cabled(fabric), sorted(link))
    check("the end does not wait for the limit", took < LIMIT_MS, took)


def one_lane_down(fabric):
    fabric.cut_lane(1, 0)
    addressed, _, took = prove(fabric)
    compare(f"all lanes but a cut one are proved ({took:.1f} ms)", addressed, cabled(fabric, [(1, 0)]))
    check("a cut lane is not waited for", took < LIMIT_MS, took)
    fabric.restore_lane(1, 0)


def swapped(fabric):
    fabric.swap_ports(1)
    for space in fabric.namespaces:
        space.sysctl(ipv4_ip_forward=1)
    addressed, link, _ = prove(fabric)
    wrong = [lane for lane in fabric.all_lanes() if any(end.node == 1 for end in fabric.ends(*lane))]
    compare("no address of swapped ports is proved", addressed, cabled(fabric, wrong))
    compare("but multicast shows what is cabled to what", {one for one in link if 1 in (one[0][0], one[1][0])},
            cabled(fabric) - cabled(fabric, wrong))
    for space in fabric.namespaces:
        space.sysctl(ipv4_ip_forward=0)
    fabric.repair_addresses()


def without_address(fabric):
    fabric.link_local_only(2, 1)
    addressed, link, _ = prove(fabric)
    compare("a lane without an address is not proved", addressed, cabled(fabric, [(2, 1)]))
    alone = cabled(fabric) - cabled(fabric, [(2, 1)])
    check("but heard on the link", alone <= link, f"missing {sorted(alone - link)}")
    fabric.repair_addresses()


def same_address(fabric):
    fabric.duplicate_address(0, 0)
    addressed, link, _ = prove(fabric)
    compare("one address at both ends is not proved", addressed, cabled(fabric, [(0, 0)]))
    alone = cabled(fabric) - cabled(fabric, [(0, 0)])
    check("but both are heard on the link", alone <= link, f"missing {sorted(alone - link)}")
    fabric.repair_addresses()


def without_ipv6(fabric):
    for space in fabric.namespaces:
        space.sysctl(ipv6_conf__all__disable_ipv6=1)
    addressed, link, took = prove(fabric)
    compare("lanes are proved without IPv6", addressed, cabled(fabric))
    check("and nothing is heard on the link", not link, sorted(link))
    check("nor waited for", took < LIMIT_MS, took)


def main():
    with Fabric("ring:4") as fabric:
        for case in (straight, one_lane_down, straight, swapped, without_address, same_address, without_ipv6):
            case(fabric)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.argv[1] = os.path.abspath(sys.argv[1])
    only_where_permitted(main)
