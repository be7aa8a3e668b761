"""One TCP connection between two hosts: `receive` prints the rate that arrives, in Mbit/s; `send ADDRESS SECONDS`."""

from __future__ import annotations

import socket
import sys
import time

PORT = 5001
PIECE_BYTES = 1 << 16
PATIENCE_SECONDS = 10


def receive() -> None:
    with socket.create_server(("0.0.0.0", PORT)) as server:
        print("ready", flush=True)
        server.settimeout(PATIENCE_SECONDS)
        connection, _ = server.accept()
    connection.settimeout(PATIENCE_SECONDS)
    count, begin = 0, time.monotonic()
    while piece := connection.recv(PIECE_BYTES):
        count += len(piece)
    print(count * 8 / (time.monotonic() - begin) / 1e6)


def send(address: str, seconds: float) -> None:
    piece = bytes(PIECE_BYTES)
    with socket.create_connection((address, PORT), PATIENCE_SECONDS) as connection:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.sendall(piece)


if sys.argv[1] == "receive":
    receive()
else:
    send(sys.argv[2], float(sys.argv[3]))
