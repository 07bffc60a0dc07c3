"""Data files against their manifests."""

from collections.abc import Iterator

from eflops.audit.findings import Finding
from eflops.data.federation import ARRAYS, MANIFEST, read_manifest
from eflops.errors import UserError
from eflops.files import sha256
from eflops.results.store import Store

FOLDER = "data"


def check_data_files(store: Store) -> Iterator[Finding]:
    """Every manifest against its own hash, and the arrays beside it, where they are there, against the manifest."""
    for path in sorted((store.folder / FOLDER).glob(f"*/*/{MANIFEST}")):
        folder = path.parent
        place = f"{FOLDER}/{folder.parent.name}/{folder.name}"
        try:
            manifest = read_manifest(folder)
        except UserError as error:
            yield Finding("damaged", f"{place}/{MANIFEST}", str(error).removeprefix(f"{path} "))
            continue
        arrays = folder / ARRAYS
        if not arrays.exists():
            if not store.published:
                yield Finding("missing", f"{place}/{ARRAYS}", "its manifest describes it")
        elif sha256(arrays) != manifest["sha256"]:
            yield Finding("damaged", f"{place}/{ARRAYS}", "it is not the file that its manifest describes")
