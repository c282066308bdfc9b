#!/usr/bin/env python3
"""Two hundred strangers on the port where ranks meet do not hold up the start.

    strangers.py FABRIC_MEMBER
"""
import os
import random
import re
import socket
import sys
import tempfile
import time

from fabric import Fabric, only_where_permitted

STRANGERS = 200
ALLOWED_S = 2.0
# How the first message of a rank begins.
HALF_HEADER = b"SIRB\1"


def be_strangers(host, port):
    """Comes in its own process beside the nodes, and stays until it is killed."""
    address = (host, int(port))
    until = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(address, 1).close()
            break
        except OSError:
            if time.monotonic() > until:
                sys.exit("nobody listens")
            time.sleep(0.02)
    noise = random.Random(1)
    drips = []

    def come(kind):
        try:
            caller = socket.create_connection(address, 2)
            if kind == 0:
                return caller.close()
            caller.setblocking(False)
            if kind == 1:
                caller.send(HALF_HEADER)
            elif kind == 2:
                caller.send(noise.randbytes(2000))
            drips.append((caller, kind))
        except OSError:
            pass  # sent away
        return None

    for number in range(STRANGERS):
        come(number % 4)
    print(f"here {len(drips)}", flush=True)
    while True:
        # Who is sent away comes again; who drips a byte a second goes on.
        for caller, kind in list(drips):
            try:
                if kind == 3:
                    caller.send(b"x")
                elif caller.recv(1000) == b"":
                    raise ConnectionResetError
            except BlockingIOError:
                pass
            except OSError:
                drips.remove((caller, kind))
                caller.close()
                come(kind)
        for _ in range(STRANGERS // 4):
            come(0)
        time.sleep(1)


def start_up_s(fabric, member, strangers):
    """How long the last of the other ranks takes to start after rank 0 is there."""
    with tempfile.TemporaryDirectory() as folder:
        gate = os.path.join(folder, "gate")
        script = '[ "$SIRCL_RANK" = 0 ] || while [ ! -e "$1" ]; do sleep 0.01; done; exec "$0" collectives'
        ranks = fabric.start(["sh", "-c", script, member, gate])
        crowd = fabric.start_on(None, [sys.executable, __file__, "be", fabric.lan_address(0), str(fabric.last_port)]
                                if strangers else ["sleep", "1"])
        until = time.monotonic() + 20
        while strangers and "here" not in crowd.output():
            if crowd.poll() is not None or time.monotonic() > until:
                sys.exit(f"the strangers do not come: {crowd.output()}")
            time.sleep(0.01)
        if strangers:
            print(f"strangers, and how many of them stayed on the line: {crowd.output().strip()}", flush=True)
        open(gate, "w", encoding="ascii").close()
        results = fabric.finish(ranks, 60)
        crowd.kill()
        crowd.wait()
    for rank, (code, text) in enumerate(results):
        if code != 0:
            sys.exit(f"rank {rank} ended with {code}:\n{text}")
    return max(float(re.search(r"up after ([\d.]+) s", text).group(1)) for _, text in results[1:])


def main():
    with Fabric("ring:4") as fabric:
        alone = start_up_s(fabric, sys.argv[1], False)
        crowded = start_up_s(fabric, sys.argv[1], True)
    print(f"start-up: {alone:.3f} s alone, {crowded:.3f} s among {STRANGERS} strangers")
    if crowded > alone + ALLOWED_S:
        sys.exit(f"more than {ALLOWED_S:g} s later")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["be"]:
        be_strangers(*sys.argv[2:])
    sys.argv[1] = os.path.abspath(sys.argv[1])
    only_where_permitted(main)
