#!/usr/bin/env python3
"""Cables are cut under a loop of checked all-reduces of 64 bytes to 16 MiB.

    cuts.py FABRIC_MEMBER

A lane, then its whole cable, then neither: no call fails, no element is wrong, and full speed returns.
Both cables of a node, or the node itself: everybody else says so within seconds.
"""
import os
import re
import statistics
import sys
import tempfile
import time

from fabric import Fabric, only_where_permitted

RATE = "250mbit"  # so that cables and not this machine's processors are the limit
REPORT_WITHIN_S = 5
LARGEST = 16 << 20
LINE = re.compile(r"^at ([\d.]+): (\d+) of (\d+) bytes in ([\d.]+) s$", re.M)


def operations(text):
    """(time of the end, bytes, seconds) of every all-reduce in a rank's output."""
    return [(float(at), int(size), float(took)) for at, _, size, took in LINE.findall(text)]


def speed_s(text, since, until):
    """The median time of the largest all-reduces that lie within a span of time."""
    took = [took for at, size, took in operations(text) if size == LARGEST and at - took >= since and at <= until]
    return statistics.median(took) if took else None


def let_run(ranks, rounds=3, limit_s=60):
    """Until rank 0 has done some more of the largest all-reduces; the span of that time."""
    begin = time.time()
    while sum(size == LARGEST and at - took >= begin for at, size, took in operations(ranks[0].output())) < rounds:
        for rank, program in enumerate(ranks):
            if program.poll() is not None:
                sys.exit(f"rank {rank} has ended with {program.poll()}:\n{news(program.output())}")
        if time.time() > begin + limit_s:
            sys.exit(f"rank 0 has come to a halt:\n{news(ranks[0].output())}")
        time.sleep(0.05)
    return begin, time.time()


def news(text):
    """A rank's output without the lines of all-reduces that went well."""
    return LINE.sub("", text).replace("\n\n", "\n")


def start(fabric, member, until):
    return fabric.start([member, "loop", until, str(LARGEST)],
                        env={"SIRCL_FABRIC": "auto", "SIRCL_DEBUG": "info", "SIRCL_LIVENESS_S": "2"})


def survivable(member):
    with Fabric("ring:4", lanes=2, rate=RATE) as fabric, tempfile.TemporaryDirectory() as folder:
        enough = os.path.join(folder, "enough")
        ranks = start(fabric, member, enough)
        let_run(ranks, rounds=1)
        spans = {"whole": let_run(ranks)}
        fabric.cut_lane(1, 0)
        spans["without a lane"] = let_run(ranks)
        fabric.cut_cable(1)
        spans["without a cable"] = let_run(ranks)
        fabric.restore_cable(1)
        let_run(ranks)  # until the cable is found, proved and used
        spans["whole again"] = let_run(ranks)
        open(enough, "w", encoding="ascii").close()
        results = fabric.finish(ranks, 30)
        for rank, (code, text) in enumerate(results):
            if code != 0 or "right\n" not in text:
                sys.exit(f"cuts: rank {rank} ended with {code}:\n{news(text)}")
            for part in ("cable 1", "p0l0", "p1l0") if rank in (1, 2) else ():
                if part not in news(text):
                    sys.exit(f"cuts: rank {rank} has an end of the cable that was cut and does not mention {part}:\n"
                             f"{news(text)}")
        text = results[0][1]
        times = {name: speed_s(text, *span) for name, span in spans.items()}
        for name, took in times.items():
            print(f"16 MiB, {name}: {took:.3f} s")
        if times["whole again"] > 1.15 * times["whole"]:
            sys.exit("full speed does not return")
        print(f"{len(operations(text))} all-reduces, all right, with a lane and a cable cut and restored", flush=True)


def fatal(what, member, harm, node, *parts):
    """What every survivor says, and how soon."""
    with Fabric("ring:4", lanes=2, rate=RATE) as fabric:
        ranks = start(fabric, member, "600")
        let_run(ranks, rounds=1)
        at = time.time()
        harm(fabric, node)
        survivors = [program for rank, program in enumerate(ranks) if rank != node]
        results = fabric.finish(survivors, REPORT_WITHIN_S + 3)
        for (code, text), rank in zip(results, [rank for rank in range(4) if rank != node]):
            end = re.search(r"^at ([\d.]+): failed: (.*)$", text, re.M)
            if code is None or not end:
                sys.exit(f"{what}: rank {rank} ended with {code}:\n{news(text)}")
            took, message = float(end.group(1)) - at, end.group(2)
            for part in parts:
                if part not in message:
                    sys.exit(f"{what}: rank {rank} does not name {part}: {message}")
            if took > REPORT_WITHIN_S:
                sys.exit(f"{what}: rank {rank} says so only after {took:.1f} s")
            print(f"{what}: rank {rank} after {took:.2f} s: {message}", flush=True)


def cut_both(fabric, node):
    for cable in fabric.cables_of(node):
        fabric.cut_cable(cable)


def main():
    member = sys.argv[1]
    survivable(member)
    fatal("both cables of node 2 cut", member, cut_both, 2, "rank 2", "cable")
    fatal("node 2 killed", member, lambda fabric, node: fabric.kill_node(node), 2, "rank 2")
    return 0


if __name__ == "__main__":
    sys.argv[1] = os.path.abspath(sys.argv[1])
    only_where_permitted(main)
