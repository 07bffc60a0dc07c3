"""Hosts for real, as far as one machine can have them: network namespaces on a bridge, each with files of its own.

A host sees the machine's programs and, under /mnt, its own folder; the folders of the others are hidden from it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from ending import stop

BRIDGE = "eflbr0"
NET = "10.213.7"


def why_not() -> str | None:
    """Why there can be no hosts here, or None."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    if shutil.which("ip") is None:
        return "network namespaces need iproute2: apt-get install iproute2"
    tried = subprocess.run(["ip", "netns", "add", "eflops-try"], capture_output=True, text=True)
    if tried.returncode:
        return f"network namespaces cannot be made here: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", "eflops-try"], check=True)
    return None


class Lan:
    """Hosts on a network of their own, which reaches nothing else; `folder` holds a folder per host."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder, self.environment = folder, environment
        self.hosts: dict[str, str] = {}
        self.running: list[tuple[str, str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> "Lan":
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("link", "set", BRIDGE, "up")
        return self

    def __exit__(self, *_: object) -> None:
        for _, _, process in self.running:
            stop(process)
        for name in self.hosts:
            subprocess.run(["ip", "netns", "delete", _space(name)], check=False)
        _ip("link", "delete", BRIDGE)

    def add(self, name: str) -> str:
        """A new host; its address."""
        number = len(self.hosts) + 1
        address, inside, outside = f"{NET}.{number}", "eth0", f"eflv{number}"
        self.hosts[name] = outside
        _ip("netns", "add", _space(name))
        _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", _space(name))
        _ip("link", "set", outside, "master", BRIDGE, "up")
        _ip("-n", _space(name), "address", "add", f"{address}/24", "dev", inside)
        _ip("-n", _space(name), "link", "set", inside, "up")
        _ip("-n", _space(name), "link", "set", "lo", "up")
        return address

    def cut(self, name: str) -> None:
        """Cut a host's link."""
        _ip("link", "set", self.hosts[name], "down")

    def mend(self, name: str) -> None:
        """Mend a host's link."""
        _ip("link", "set", self.hosts[name], "up")

    def start(self, name: str, command: str, **environment: str) -> "subprocess.Popen[bytes]":
        """Start a command of a host in its own folder; what it says goes to a log beside the host's folder."""
        host_folder = self.folder / name
        hide = f"mount --bind '{host_folder}' /mnt && mount -t tmpfs none '{self.folder}' && cd /mnt && exec {command}"
        with open(self.log(name, command), "wb") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", _space(name), "unshare", "--mount", "sh", "-c", hide],
                env={**os.environ, **self.environment, **environment, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.running.append((name, command, process))
        return process

    def stop(self, name: str, command: str) -> None:
        """End a command of a host."""
        for host, started, process in self.running:
            if (host, started) == (name, command):
                stop(process)

    def log(self, name: str, command: str) -> Path:
        """Where a host's command writes what it has to say."""
        return self.folder.parent / f"{name}-{Path(command.split()[0]).stem}.log"


def _space(name: str) -> str:
    return f"eflops-{name}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
