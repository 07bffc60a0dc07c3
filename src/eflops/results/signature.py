"""Signing the list of hashes with an ssh key, and checking the signature.

`ssh-keygen -Y sign` is on every machine that has ssh. Beside the signature stands the public key that made it; whether
that key is the publisher's a reader must know from elsewhere, so the audit says which key it was.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from eflops.audit.findings import Finding
from eflops.errors import UserError
from eflops.results.checksums import NAME, SIGNATURE

NAMESPACE = "eflops"


def sign(folder: Path, key: Path) -> None:
    """Sign a folder's list of hashes with a private ssh key, or the agent's key that a public one names."""
    (folder / SIGNATURE).unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(key), str(folder / NAME)]
    done = _run(command)
    if done.returncode or not (folder / SIGNATURE).exists():
        raise UserError(
            f"{key}: nothing was signed with this key ({done.stderr.strip() or 'ssh-keygen gave no reason'})."
        )


def check(folder: Path) -> Iterator[Finding]:
    """A signature that does not fit the list of hashes; nothing where there is none."""
    if not (folder / SIGNATURE).exists() or not (folder / NAME).exists():
        return
    command = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(folder / SIGNATURE)]
    done = _run(command, (folder / NAME).read_bytes())
    if done.returncode:
        yield Finding("damaged", SIGNATURE, f"it is not a signature of {NAME}")


def signer(folder: Path) -> str:
    """The fingerprint of the key that signed a folder's list of hashes; empty where it is not signed soundly."""
    if not (folder / SIGNATURE).exists() or any(check(folder)):
        return ""
    command = ["ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(folder / SIGNATURE)]
    return _run(command, (folder / NAME).read_bytes()).stdout.strip().rpartition(" ")[2]


def _run(command: list[str], data: bytes = b"") -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError("ssh-keygen is not installed, which signs and checks signatures; install OpenSSH.") from None
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())
