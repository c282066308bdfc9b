#!/usr/bin/env python3
"""Plain traffic between nodes, to test the rig itself.

    traffic.py serve                          answers datagrams and swallows streams on every address
    traffic.py ask INTERFACE ADDRESS          0 if an answer comes back over that interface
    traffic.py pour INTERFACE ADDRESS SECONDS a stream; prints the bytes that the other end has got
"""
import socket
import sys
import threading
import time

PORT = 7000


def bound(kind, interface, timeout=None):
    made = socket.socket(socket.AF_INET, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    made.settimeout(timeout)
    return made


def swallow(stream):
    """Says at the end of a stream how long it was."""
    got = 0
    while data := stream.recv(1 << 20):
        got += len(data)
    stream.sendall(got.to_bytes(8, "big"))
    stream.close()


def serve():
    listener = socket.create_server(("", PORT))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("", PORT))

    def accept():
        while True:
            threading.Thread(target=swallow, args=[listener.accept()[0]], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print("serving", flush=True)
    while True:
        try:
            data, sender = datagrams.recvfrom(100)
            datagrams.sendto(data, sender)
        except OSError:
            pass  # an earlier answer did not get back


def ask(interface, address):
    asker = bound(socket.SOCK_DGRAM, interface, 0.3)
    for _ in range(3):
        try:
            asker.sendto(b"there?", (address, PORT))
            if asker.recv(100) == b"there?":
                return 0
        except OSError:  # no way there, or no answer
            pass
    return 1


def pour(interface, address, seconds):
    stream = bound(socket.SOCK_STREAM, interface, 10)
    # Little waits in this buffer when the time is over.
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 300_000)
    stream.connect((address, PORT))
    block = bytes(100_000)
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        stream.sendall(block)
    stream.shutdown(socket.SHUT_WR)
    got = int.from_bytes(stream.recv(8, socket.MSG_WAITALL), "big")
    print(got, time.monotonic() - begin)
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    if words == ["serve"]:
        serve()
    elif words[0] == "ask":
        sys.exit(ask(*words[1:]))
    elif words[0] == "pour":
        sys.exit(pour(words[1], words[2], float(words[3])))
    else:
        sys.exit(__doc__)
