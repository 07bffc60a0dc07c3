"""The data behind a record: as stored, or rebuilt if a published folder omits the arrays."""

from pathlib import Path
from typing import Any

from eflops.data.build import build
from eflops.data.federation import ARRAYS, MANIFEST, parse_manifest, read_manifest, save
from eflops.errors import UserError
from eflops.results.labels import ratio_value
from eflops.results.store import Store


def stored_manifest(store: Store, name: str) -> dict[str, Any]:
    """The checked manifest of a data draw, such as synthetic/nd0.64-draw0."""
    return parse_manifest(store.text(f"data/{name}/{MANIFEST}"), store.folder / "data" / name)


def data_folder(store: Store, name: str, expected: str, folder: Path) -> Path:
    """The folder of all data that holds a draw of this sha256; rebuilt below `folder` if its arrays are missing."""
    stored = store.folder / "data" / name
    if (stored / ARRAYS).exists() and stored_manifest(store, name)["sha256"] == expected:
        return store.folder / "data"
    again = folder / "data"
    if not (again / name / ARRAYS).exists():
        settings = stored_manifest(store, name)["settings"]
        raw = Path("resources") / settings["source"] if settings.get("source") else None
        save(build(settings, ratio_value(settings["ratio"]), settings["draw"], raw), again / name, settings)
    if read_manifest(again / name)["sha256"] != expected:
        raise UserError(
            f"data/{name}: the rebuilt data differ from the data of the training run; the code has changed."
        )
    return again
