"""Pictures say in their metadata which numbers they were drawn from."""

import re
from pathlib import Path

DATA_HASH = re.compile(rb"data sha256 ([0-9a-f]{64})")


def picture_hash(path: Path) -> str | None:
    """The hash of the data that a picture says it was drawn from."""
    match = DATA_HASH.search(path.read_bytes())
    return match[1].decode() if match else None
