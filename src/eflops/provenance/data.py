"""The data behind a record: as stored, or rebuilt if a published folder omits the arrays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eflops.data.build import build
from eflops.data.federation import ARRAYS, MANIFEST, parse_manifest, read_manifest, save
from eflops.errors import UserError
from eflops.files import below
from eflops.results.labels import DATA, ratio_value
from eflops.results.store import Store


class OtherData(UserError):
    """Data that are not what a run or a manifest says."""


def stored_manifest(store: Store, name: str) -> dict[str, Any]:
    """The checked manifest of a data draw, such as synthetic/nd0.64-draw0."""
    return parse_manifest(store.text(f"{DATA}/{name}/{MANIFEST}"), store.folder / DATA / name)


def data_folder(store: Store, name: str, expected: str, folder: Path, stored: bool = True) -> Path:
    """The folder of all data that holds a draw of this sha256; rebuilt below `folder` if its arrays are missing.

    stored: whether stored arrays will do. Who forged them can write every hash again, but not their settings.
    """
    manifest = stored_manifest(store, name)
    if stored and has_arrays(store, name) and manifest["sha256"] == expected:
        return store.folder / DATA
    again = folder / DATA
    if not (again / name / ARRAYS).exists():
        settings = manifest["settings"]
        draw = build(settings, ratio_value(settings["ratio"]), settings["draw"], _images(settings))
        save(draw, again / name, settings)
    made = read_manifest(again / name)
    if made["sha256"] != expected:
        raise OtherData(
            f"{DATA}/{name}: the rebuilt data differ from the data of the training run; they are forged, or the code "
            "has changed."
        )
    if made["meta"] != manifest["meta"]:
        raise OtherData(f"{DATA}/{name}: its meta data differ from those that its settings give.")
    return again


def has_arrays(store: Store, name: str) -> bool:
    """Whether the arrays of a draw are stored."""
    return (store.folder / DATA / name / ARRAYS).exists()


def can_rebuild(store: Store, name: str) -> bool:
    """Whether the images that a draw is made from are here; other data need no files, or the rebuilding names them."""
    images = _images(stored_manifest(store, name)["settings"])
    return images is None or images.is_dir()


def _images(settings: Mapping[str, Any]) -> Path | None:
    return Path("resources") / below(settings["source"]) if settings.get("source") else None
