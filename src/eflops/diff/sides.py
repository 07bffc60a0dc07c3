"""The two sides of a comparison: results folders, or the published results of a git commit."""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eflops.errors import UserError
from eflops.files import write_bytes
from eflops.results.paths import STUDY

PUBLISHED = "results/published"


@contextmanager
def side(name: str, published: str = PUBLISHED) -> Iterator[Path]:
    """The folder that a name stands for: itself, or what a commit tracks at `published`, unpacked for a while."""
    if name and Path(name).is_dir():
        if not (Path(name) / STUDY).exists():
            raise UserError(f"{name}: there is no {STUDY} in this folder, so it holds no results; name one that does.")
        yield Path(name)
        return
    archive = _archive(name, published)
    with tempfile.TemporaryDirectory(prefix="eflops-") as temporary:
        with tarfile.open(fileobj=io.BytesIO(archive)) as members:
            for member in members:
                content = members.extractfile(member)
                if content is not None:
                    write_bytes(Path(temporary) / member.name, content.read())
        yield Path(temporary) / published


def _archive(commit: str, published: str) -> bytes:
    """The published results of a commit as a tar file."""
    known = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"], capture_output=True)
    if known.returncode:
        raise UserError(f"{commit}: there is no such folder and no such commit; name a results folder or a commit.")
    made = subprocess.run(["git", "archive", known.stdout.decode().strip(), published], capture_output=True)
    if made.returncode:
        raise UserError(f"{commit}: this commit has no {published}; name one that tracks published results.")
    return made.stdout
