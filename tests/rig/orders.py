#!/usr/bin/env python3
"""Every collective over every shape of fabric, whichever rank sits where, with nothing said about the cables.

    orders.py FABRIC_MEMBER
"""
import itertools
import os
import sys
import time

from fabric import Fabric, only_where_permitted

# What the ranks tell each other besides payload, whose size they do not choose.
LAN_BYTES = 400_000


def lan_bytes(fabric):
    return max(count for (_, interface, way), count in fabric.counters().items() if interface == "lan" and way == "tx")


def orders_of(nodes):
    if nodes <= 4:
        return list(itertools.permutations(range(nodes)))
    # A larger fabric by samples: as cabled, backwards, neighbours apart, and two that have no pattern.
    return [tuple(range(nodes)), tuple(reversed(range(nodes))),
            tuple([*range(0, nodes, 2), *range(1, nodes, 2)]), (4, 0, 5, 2, 1, 3), (1, 3, 0, 2, 5, 4)]


def go(shape, lanes, member):
    with Fabric(shape, lanes=lanes) as fabric:
        for order in orders_of(fabric.nodes):
            begin, before = time.monotonic(), lan_bytes(fabric)
            for rank, (code, text) in enumerate(fabric.run([member, "collectives"], order=order,
                                                           env={"SIRCL_FABRIC": "auto"})):
                if code != 0 or "right\n" not in text:
                    sys.exit(f"{shape}, {lanes} lanes, ranks {order} by node: rank {rank} ended with {code}:\n{text}")
            management = lan_bytes(fabric) - before
            if management > LAN_BYTES:
                sys.exit(f"{shape}, {lanes} lanes, ranks {order} by node: {management} bytes went over the LAN")
            print(f"{shape}, {lanes} lanes, ranks {order} by node: right, {time.monotonic() - begin:.1f} s, "
                  f"at most {management} bytes of a node over the LAN", flush=True)


def main():
    for shape, lanes in (("ring:4", 2), ("ring:3", 2), ("ring:6", 2), ("path:3", 2), ("path:4", 2),
                         ("pair:1", 2), ("pair:2", 2), ("pair:1", 1)):
        go(shape, lanes, sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.argv[1] = os.path.abspath(sys.argv[1])
    only_where_permitted(main)
