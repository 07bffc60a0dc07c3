"""SHA256SUMS: every byte of every file of a folder under a hash, in the form that `sha256sum --check` reads."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from eflops.audit.findings import Finding
from eflops.errors import UserError
from eflops.files import sha256, sha256_bytes, write_text

NAME = "SHA256SUMS"
SIGNATURE = f"{NAME}.sig"
LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def write(folder: Path) -> None:
    """Write the hashes of all files below `folder`."""
    write_text(folder / NAME, _text(hashes(folder)))


def hashes(folder: Path) -> dict[str, str]:
    """The hash of every file below a folder, by its path."""
    return {path: sha256(folder / path) for path in files(folder)}


def list_hash(listed: Mapping[str, str], without: str) -> str:
    """One hash for a list of hashes, one file left out."""
    return sha256_bytes(_text({path: digest for path, digest in listed.items() if path != without}).encode())


def files(folder: Path) -> list[str]:
    """All files below a folder but the list itself, as paths below it, sorted."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if path not in (NAME, SIGNATURE))


def check(folder: Path) -> Iterator[Finding]:
    """Every file that is not what the list says, every one that is gone, and every one that is not listed."""
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
    """The listed hashes by path; a list that this module did not write, byte for byte, is refused."""
    try:
        text = (folder / NAME).read_bytes().decode()
    except FileNotFoundError:
        raise UserError("the list of hashes is missing; publish the results again") from None
    except UnicodeDecodeError:
        raise UserError("the list of hashes is not text; it was changed after it was written") from None
    matches = [LINE.fullmatch(line) for line in text.splitlines()]
    listed = {match[2]: match[1] for match in matches if match}
    if text != _text(listed):
        raise UserError("the list of hashes is not as it was written; it was changed by hand")
    return listed


def _text(hashes: dict[str, str]) -> str:
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(hashes.items()))
