"""results/explorer.html: every number of a results folder, opened down to its runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eflops.analysis.figure import style
from eflops.analysis.source import Source
from eflops.config.models import Config
from eflops.data.federation import read_manifest
from eflops.diff import side
from eflops.errors import UserError
from eflops.explain.recompute import from_records, method_labels
from eflops.explorer.behind import line_reference, made_products
from eflops.explorer.features import features
from eflops.explorer.moved import moved_json
from eflops.explorer.page import render
from eflops.explorer.products import pictures, product_json
from eflops.explorer.references import References
from eflops.explorer.runs import curve_columns, run_columns, support_columns
from eflops.explorer.scorecard import read_card, sections
from eflops.explorer.trials import searches
from eflops.files import write_text
from eflops.results.paths import EXPLORER, SUMMARY
from eflops.results.store import Store, opened
from eflops.results.study import read_study
from eflops.training.record import Record


def explored(results: Sequence[str], out: Path | None = None) -> Path:
    """The page of one results folder, or of the second of two with what moved since the first; where it was written."""
    if len(results) > 2:
        raise UserError(f"{results[2]}: the explorer compares two results; name one or two folders or commits.")
    *before, shown = results
    if out is None and not Path(shown).is_dir():
        raise UserError(f"{shown}: this is no folder to put {EXPLORER} into; say where with --out.")
    page = out or Path(shown) / EXPLORER
    make(shown, page, *before)
    return page


def make(results: str, out: Path, before: str | None = None) -> None:
    """Write the page of a results folder (or of a commit's published results); `before` is what it is compared to."""
    with side(results) as folder, opened(folder) as store:
        config = read_study(store.folder).config
        records = _records(store, config)
        parts = _parts(store, config, _source(store, config), records, results)
        if before is not None:
            with side(before) as old:
                parts["moved"] = moved_json(old, folder, (before, results))
        write_text(out, render(_first_sight(store, parts["index"], bool(before)), parts))


def _records(store: Store, config: Config) -> dict[str, Record]:
    """The records of all experiments by their paths below the runs; a search's trials have a table of their own."""
    paths = [path for path in store.record_paths() if path.split("/")[0] in config.experiments]
    return {path: store.record(path) for path in paths}


def _source(store: Store, config: Config) -> Source:
    """What tables and figures read; a published folder holds no gathered files, so they are made from the records."""
    return from_records(store, config) if store.published else Source(store.folder, method_labels(config))


def _parts(store: Store, config: Config, source: Source, records: dict[str, Record], name: str) -> dict[str, Any]:
    """The page's data, in parts that are inflated when a view first needs them."""
    runs = run_columns(records)
    references = References({path: place for place, path in enumerate(records)}, runs["metrics"])
    card = read_card(store.folder)
    data = {
        folder: read_manifest(store.folder / "data" / folder)["settings"]
        for folder in sorted({entry.origin.data for entry in records.values()})
    }
    index = {
        "results": name,
        "records": len(records),
        "methods": {name: _method(name, label) for name, label in source.labels.items()},
        "products": [product_json(*made, source, config, references) for made in made_products(config, store.folder)],
        "card": card and _traced_card(card, config, source, references),
    }
    return {
        "index": {**index, "references": references.as_json()},
        "runs": runs,
        "curves": curve_columns(records),
        "supports": {**support_columns(records), **features(records, data)},
        "trials": searches(store.folder),
        "pictures": pictures(store.folder),
    }


def _traced_card(card: dict[str, Any], config: Config, source: Source, references: References) -> dict[str, Any]:
    """The scorecard with the place of the reference behind each of its lines."""
    return {**card, "behind": [line_reference(source, config, line, references) for line in card["lines"]]}


def _method(name: str, label: str) -> dict[str, str]:
    """How a method is called and drawn, the same as in the figures."""
    colour, marker = style(name)
    return {"label": label, "colour": colour, "marker": marker}


def _first_sight(store: Store, index: dict[str, Any], compared: bool) -> dict[str, Any]:
    """What the page shows before any script has run."""
    summary = store.folder / SUMMARY
    lines = summary.read_text(encoding="utf-8").splitlines() if summary.exists() else []
    return {
        "card": index["card"],
        "sections": sections(index["card"]) if index["card"] else [],
        "summary": [line.removeprefix("- ") for line in lines if line.startswith("- ")],
        "categories": list(dict.fromkeys(product["category"] for product in index["products"])),
        "products": index["products"],
        "records": index["records"],
        "results": index["results"],
        "compared": compared,
    }
