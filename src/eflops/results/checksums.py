"""SHA256SUMS: the hash of every file of a folder, in the form that `sha256sum --check` reads.

The list can be signed with an ssh key (`ssh-keygen -Y sign`). Readers must know from elsewhere whether the key is the
publisher's, so the audit prints its fingerprint.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from eflops.errors import UserError
from eflops.files import sha256, sha256_bytes, write_text
from eflops.results.findings import Finding

NAME = "SHA256SUMS"
SIGNATURE = f"{NAME}.sig"
NAMESPACE = "eflops"
LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def write(folder: Path) -> None:
    """Write the hashes of all files below `folder`."""
    write_text(folder / NAME, _text(hashes(folder)))


def hashes(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder, by its path."""
    return {path: sha256(folder / path) for path in files(folder)}


def list_hash(listed: Mapping[str, str], without: str) -> str:
    """One hash for a list of hashes, without one file."""
    return sha256_bytes(_text({path: digest for path, digest in listed.items() if path != without}).encode())


def files(folder: Path) -> list[str]:
    """All files below a folder except the list itself, as sorted relative paths."""
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in paths if path not in (NAME, SIGNATURE))


def links_out(folder: Path) -> list[str]:
    """The links below a folder that lead out of it, as sorted relative paths: a copy would contain their targets."""
    inside = folder.resolve()
    links = (path for path in folder.rglob("*") if path.is_symlink())
    out = (link for link in links if not Path(os.path.realpath(link)).is_relative_to(inside))
    return sorted(link.relative_to(folder).as_posix() for link in out)


def refuse_links_out(folder: Path) -> None:
    """Refuse to copy a folder whose links lead to other files of this machine."""
    if links := links_out(folder):
        raise UserError(f"{folder / links[0]}: this link leads out of the folder; put the file itself in its place.")


def check(folder: Path) -> Iterator[Finding]:
    """Find an invalid signature, and every changed, missing or unlisted file."""
    if (folder / SIGNATURE).exists() and not signer(folder):
        yield Finding("damaged", SIGNATURE, f"it is not a signature of {NAME}")
    try:
        listed = read(folder)
    except UserError as error:
        yield Finding("damaged", NAME, str(error))
        return
    present = set(files(folder))
    for path, expected in listed.items():
        if path not in present:
            yield Finding("missing", path, f"{NAME} lists it")
        elif sha256(folder / path) != expected:
            yield Finding("damaged", path, f"its bytes do not match {NAME}")
    for path in sorted(present - set(listed)):
        yield Finding("unexpected", path, f"{NAME} does not list it")


def read(folder: Path) -> dict[str, str]:
    """The listed hashes by path; a list that differs from this module's format in any byte is rejected."""
    try:
        text = (folder / NAME).read_bytes().decode()
    except FileNotFoundError:
        raise UserError("the list of hashes is missing; publish the results again") from None
    except UnicodeDecodeError:
        raise UserError("the list of hashes is not text; it was changed after it was written") from None
    matches = [LINE.fullmatch(line) for line in text.splitlines()]
    listed = {match[2]: match[1] for match in matches if match}
    if text != _text(listed):
        raise UserError("the list of hashes was changed after it was written")
    return listed


def _text(hashes: dict[str, str]) -> str:
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items()))


def sign(folder: Path, key: Path) -> None:
    """Sign a folder's list of hashes with a private ssh key, or the agent's key that a public one names."""
    (folder / SIGNATURE).unlink(missing_ok=True)
    done = _ssh_keygen("-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(folder / NAME))
    if done.returncode or not (folder / SIGNATURE).exists():
        reason = done.stderr.decode().strip() or "ssh-keygen gave no reason"
        raise UserError(f"{key}: nothing was signed with this key ({reason}).")


def fingerprint(key: Path) -> str:
    """The fingerprint of an ssh key, such as SHA256:..."""
    done = _ssh_keygen("-l", "-f", str(key))
    if done.returncode:
        raise UserError(
            f"{key}: this is not an ssh key ({done.stderr.decode().strip() or 'ssh-keygen gave no reason'})."
        )
    return done.stdout.decode().split()[1]


def signer(folder: Path) -> str:
    """The fingerprint of the key that signed a folder's list of hashes; empty if there is no valid signature."""
    if not (folder / SIGNATURE).exists() or not (folder / NAME).exists():
        return ""
    listed = (folder / NAME).read_bytes()
    done = _ssh_keygen("-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(folder / SIGNATURE), data=listed)
    return "" if done.returncode else done.stdout.decode().strip().rpartition(" ")[2]


def _ssh_keygen(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", *arguments], input=data, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError("ssh-keygen is not installed, which signs and checks signatures; install OpenSSH.") from None
