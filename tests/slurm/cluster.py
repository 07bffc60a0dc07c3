"""A real Slurm of one node on this machine: munged, slurmctld and slurmd on the loopback, without accounting.

It lives in one folder, uses ports of its own, and stops exactly the processes that it started.
"""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
PATHS = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/sbin"))
PATIENCE = 120

CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
ReturnToService=2
SlurmdTimeout=15
MinJobAge=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=60 State=UP
"""


def missing_programs() -> list[str]:
    """The programs of Slurm and munge that this machine lacks."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATHS) is None]


class Cluster:
    """The cluster; `with Cluster(folder) as cluster` starts it and stops it."""

    def __init__(self, folder: Path, cpus: int = 2, memory: int = 8000) -> None:
        self.folder = folder
        self.host = socket.gethostname().split(".")[0]
        paths = f"{folder / 'bin'}{os.pathsep}{PATHS}"
        self.environment = {**os.environ, "PATH": paths, "SLURM_CONF": str(folder / "slurm.conf")}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("state", "spool", "bin"):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o755)
        controller, node = _free_ports(2)
        values = {"host": self.host, "user": _user(), "folder": folder, "controller": controller, "node": node}
        (folder / "slurm.conf").write_text(CONFIG.format(**values, cpus=cpus, memory=memory))
        # Snakemake's plugin hides all variables of Slurm from the steps of a job, also where Slurm's config lies.
        wrapper = folder / "bin" / "srun"
        wrapper.write_text(
            f"#!/bin/sh\nSLURM_CONF='{folder}/slurm.conf' exec {shutil.which('srun', path=PATHS)} \"$@\"\n"
        )
        wrapper.chmod(0o755)
        (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge.key").chmod(0o600)

    def __enter__(self) -> "Cluster":
        try:
            self._start_munge()
            self.start("slurmctld")
            self.start("slurmd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.command("scancel", "--state=PENDING", "--state=RUNNING", "--user", _user(), check=False)
        for name in reversed(list(self.running)):
            self.stop(name)

    def start(self, name: str) -> None:
        """Start slurmctld or slurmd and wait until the node can take jobs again."""
        self._spawn(name, "-D", *(["-N", self.host] if name == "slurmd" else []))
        if name == "slurmd":
            self.wait(self.node_is_up, "the node to come up")
        else:
            self.wait(lambda: self.command("sinfo", check=False) != "", "the controller to answer")

    def stop(self, name: str) -> None:
        """Stop one daemon, and for a node also the jobs on it, as when its machine goes down."""
        process = self.running.pop(name)
        steps = _children_named("slurmstepd", self.folder) if name == "slurmd" else []
        process.terminate()
        process.wait(PATIENCE)
        for pid in steps:
            _kill_tree(pid)

    def command(self, *words: str, check: bool = True) -> str:
        """What a Slurm command prints."""
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def jobs(self, state: str) -> list[str]:
        """The ids of the jobs in a state."""
        return self.command("squeue", "--noheader", "--states", state, "--format", "%i").split()

    def node_is_up(self) -> bool:
        """Whether the node takes jobs."""
        state = self.command("sinfo", "--noheader", "--format", "%t", check=False).strip()
        return state in {"idle", "mix", "alloc"}

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Wait until something is so; a daemon that has ended, or too long a wait, is an error."""
        end = time.monotonic() + PATIENCE
        while not condition():
            for name, process in self.running.items():
                assert process.poll() is None, f"{name} ended: {self._log(name)}"
            logs = "\n".join(self._log(name) for name in self.running)
            assert time.monotonic() < end, f"waited {PATIENCE} s for {what}: {logs}"
            time.sleep(0.2)

    def _start_munge(self) -> None:
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "seed-file": "munge.seed"}
        options = [f"--{option}={self.folder / name}" for option, name in files.items()]
        self._spawn("munged", "--foreground", "--force", *options, f"--log-file={self.folder / 'munge.log'}")
        self.wait((self.folder / "munge.socket").exists, "munged to listen")

    def _spawn(self, name: str, *arguments: str) -> None:
        program = shutil.which(name, path=PATHS)
        assert program is not None
        with open(self.folder / f"{name}.out", "ab") as log:
            self.running[name] = subprocess.Popen([program, *arguments], env=self.environment, stdout=log, stderr=log)

    def _log(self, name: str) -> str:
        return (self.folder / f"{name}.out").read_text(errors="replace")[-2000:]


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _children_named(name: str, folder: Path) -> list[int]:
    """The processes of that name whose Slurm is the one of this folder."""
    process_ids = []
    for status in Path("/proc").glob("[0-9]*/comm"):
        try:
            environment = (status.parent / "environ").read_bytes().split(b"\0")
            if status.read_text().strip() == name and f"SLURM_CONF={folder / 'slurm.conf'}".encode() in environment:
                process_ids.append(int(status.parent.name))
        except OSError:
            continue
    return process_ids


def _kill_tree(pid: int) -> None:
    """End a process and all that it started."""
    import psutil

    try:
        parent = psutil.Process(pid)
        members = [*parent.children(recursive=True), parent]
    except psutil.NoSuchProcess:
        return
    for process in members:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
