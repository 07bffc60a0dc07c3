"""The data behind a record: as stored, or built again where a published folder leaves the arrays out."""

from pathlib import Path

from eflops.config.models import with_present_names
from eflops.data.build import build
from eflops.data.federation import ARRAYS, read_manifest, save
from eflops.errors import UserError
from eflops.results.labels import ratio_value
from eflops.results.store import Store


def data_folder(store: Store, name: str, expected: str, folder: Path) -> Path:
    """The folder of all data that holds a draw of this sha256; made again below `folder` if its arrays are gone."""
    stored = store.folder / "data" / name
    if (stored / ARRAYS).exists() and read_manifest(stored)["sha256"] == expected:
        return store.folder / "data"
    again = folder / "data"
    if not (again / name / ARRAYS).exists():
        settings = with_present_names(read_manifest(stored)["settings"])
        raw = Path("resources") / settings["source"] if settings.get("source") else None
        save(build(settings, ratio_value(settings["ratio"]), settings["draw"], raw), again / name, settings)
    if read_manifest(again / name)["sha256"] != expected:
        raise UserError(f"data/{name}: made again it is not the data that was trained on; its code has changed.")
    return again
