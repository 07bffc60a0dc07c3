"""A Python for 64-bit ARM with all that training imports, for qemu-aarch64 to run on a processor of another kind.

The interpreter and the C library are Debian's, fetched by apt as for an empty ARM machine: nothing is installed here,
and no right of root is needed. Everything else is wheels. It is put together once, in the user's cache.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eflops.files import PROJECT

# Without a version: as pinned for everybody. Of torch the last version whose wheel for ARM needs no CUDA: torch carries
# tensors, and what it does to them on the way to a result is exact in any version.
WHEELS = (
    "annotated-types", "filelock", "fsspec", "jinja2", "llvmlite", "markupsafe", "mpmath", "networkx", "numba", "numpy",
    "pandas", "pydantic", "pydantic-core", "python-dateutil", "pyyaml", "scipy", "sympy", "torch==2.8.0",
    "typing-extensions", "typing-inspection",
)  # fmt: skip
DEBIAN = ("python3-minimal", "libpython3-stdlib", "libstdc++6")
PROGRAMS = {"qemu-aarch64": "qemu-user", "apt-get": "apt", "dpkg-deb": "dpkg"}
# The emulated processor: with vectors of 128 bits, as laptops and most servers have them.
PROCESSOR = "neoverse-n1"


class Unavailable(Exception):
    """Why there is no such Python here, in one sentence."""


def python() -> tuple[list[str], dict[str, str]]:
    """The command that starts it, and the environment that it needs."""
    missing = [f"{name} (Debian package {package})" for name, package in PROGRAMS.items() if not shutil.which(name)]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")
    root = _made()
    paths = [PROJECT / "src", PROJECT / "tests", root / "wheels"]
    environment = {
        "PYTHONHOME": str(root / "debian" / "usr"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        # Compiling under emulation takes minutes, so the code is kept for the next run; other code has other names.
        "NUMBA_CACHE_DIR": str(root / "machine-code"),
    }
    return ["qemu-aarch64", "-cpu", PROCESSOR, "-L", str(root / "debian"), str(_interpreter(root))], environment


def _made() -> Path:
    """The folder that holds it, whole or not at all."""
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "eflops"
    wheels = _pinned()
    root = users / f"arm64-{hashlib.sha256(' '.join((*DEBIAN, *wheels)).encode()).hexdigest()[:12]}"
    if not root.exists():
        users.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="arm64-", dir=users) as folder:
            made = Path(folder) / "made"
            _unpack_debian(Path(folder) / "apt", made)
            _unpack_wheels(made, wheels)
            made.rename(root)
    return root


def _pinned() -> list[str]:
    """The wheels with their versions."""
    lines = (PROJECT / "requirements.lock").read_text().splitlines()
    versions = dict(line.split("==") for line in lines if re.fullmatch(r"[\w.-]+==\S+", line))
    return [name if "==" in name else f"{name}=={versions[name]}" for name in WHEELS]


def _unpack_debian(apt: Path, made: Path) -> None:
    """Have apt fetch the packages for a machine on which nothing is installed, and unpack them."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True)
    (apt / "status").touch()
    settings = {
        "APT::Architecture": "arm64", "APT::Architectures": "arm64", "APT::Sandbox::User": "root",
        "Acquire::Languages": "none", "Debug::NoLocking": "1",
        "Dir::State": apt / "state", "Dir::State::status": apt / "status", "Dir::Cache": apt / "cache",
    }  # fmt: skip
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    fetch = ["install", "--download-only", "--yes", "--no-install-recommends", *DEBIAN]
    for command in (["update"], fetch):
        _run("Debian's packages for arm64 cannot be fetched", ["apt-get", *options, *command])
    made.mkdir()
    for package in sorted((apt / "cache" / "archives").glob("*.deb")):
        _run(f"{package.name} cannot be unpacked", ["dpkg-deb", "-x", str(package), str(made / "debian")])


def _unpack_wheels(made: Path, wheels: Sequence[str]) -> None:
    """Have pip unpack the wheels for that interpreter. Not their dependencies, which pip would choose for this one."""
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in range(28, 16, -1)]
    version = _interpreter(made).name.removeprefix("python")
    options = ["--no-deps", "--only-binary=:all:", *platforms, "--platform=manylinux2014_aarch64"]
    where = ["--implementation=cp", f"--python-version={version}", f"--target={made / 'wheels'}"]
    pip = [sys.executable, "-m", "pip", "install", *options, *where, *wheels]
    _run(f"wheels for arm64 and Python {version} cannot be fetched", pip)


def _interpreter(root: Path) -> Path:
    """Debian's python3 is a link to the interpreter, whose name has its version."""
    link = root / "debian" / "usr" / "bin" / "python3"
    return link.with_name(os.readlink(link))


def _run(failure: str, command: Sequence[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Unavailable(f"{failure}: {' '.join(done.stdout.split()[-40:])}")
