"""Ports for a federation on this machine."""

import socket
from contextlib import suppress


def free_ports(count: int) -> int:
    """The first of so many ports in a row that nobody listens on now."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = int(probe.getsockname()[1])
        with suppress(OSError):
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
