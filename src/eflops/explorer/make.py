"""results/explorer.html: every number of a results folder with its runs."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypedDict

import yaml

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.card import Card, LineJson
from eflops.analysis.scorecard.line import both_written, printed, written
from eflops.analysis.scorecard.verdict import Value
from eflops.analysis.source import Source
from eflops.analysis.style import style
from eflops.analysis.text import ABSENT, Scalar, signed
from eflops.config.models import Config
from eflops.config.products import Product
from eflops.config.study import read_study
from eflops.errors import UserError
from eflops.explorer.page import render, rounded
from eflops.explorer.products import References, line_reference, made_products, pictures, product_json
from eflops.explorer.runs import curve_columns, features, final_metrics, run_columns, searches, support_columns
from eflops.files import read_json, write_text
from eflops.provenance.data import stored_manifest
from eflops.provenance.diff import diff, side, summary
from eflops.provenance.explain.recompute import from_records, method_labels
from eflops.results.paths import EXPLORER, SCORECARD, SUMMARY
from eflops.results.record import Record
from eflops.results.store import Store, opened


class PageCard(Card):
    """The scorecard, with a reference from each line to its runs."""

    behind: list[int | None]


class Index(TypedDict):
    """The data that every view of the page needs: methods with their styles, products, scorecard, references to
    runs."""

    results: str
    inside: bool
    records: int
    methods: dict[str, dict[str, str]]
    products: list[dict[str, object]]
    card: PageCard | None
    references: dict[str, object]


def make(results: Sequence[str], out: Path | None = None) -> Path:
    """Write the page of one results folder or commit, or of the second of two with the changes since the first.

    out: the page; by default `explorer.html` in the folder. Returns its path.
    """
    if len(results) > 2:
        raise UserError(f"{results[2]}: the explorer compares two results; name one or two folders or commits.")
    *before, shown = results
    if out is None and not Path(shown).is_dir():
        raise UserError(
            f"{shown}: cannot put {EXPLORER} here, because this is not a folder; name the output with --out."
        )
    page = out or Path(shown) / EXPLORER
    with side(shown) as folder:
        inside = page.resolve().parent == folder.resolve()
        write_text(page, page_of(folder, shown, before[0] if before else None, inside))
    return page


def page_of(folder: Path, results: str, before: str | None = None, inside: bool = True) -> str:
    """The page of a results folder, shown under the name `results`; `before` is the version to compare with.

    inside: whether the page is in the folder.
    """
    with opened(folder) as store:
        config = read_study(store.folder).config
        # A published folder holds no gathered files, so they are made from the records.
        source = from_records(store, config) if store.published else Source(store.folder, method_labels(config))
        # Before the records: of a product that is there the records are, though others may be in the making.
        made = list(made_products(config, store.folder))
        # The records of all experiments by their paths below the runs; a search's trials have a table of their own.
        paths = [path for path in store.record_paths() if path.split("/")[0] in config.experiments]
        records = {path: store.record(path) for path in paths}
        index, parts = _parts(store, config, source, made, records, results, inside)
        if before is not None:
            with side(before) as old:
                parts["moved"] = _moved(old, folder, (before, results))
        return render(_home(store, index, bool(before)), parts)


def _parts(
    store: Store,
    config: Config,
    source: Source,
    made: list[tuple[Product, Path]],
    records: dict[str, Record],
    name: str,
    inside: bool,
) -> tuple[Index, dict[str, object]]:
    """The page's data: the index, and the compressed parts, which a view inflates on first use."""
    metrics = final_metrics(records)
    references = References({path: position for position, path in enumerate(records)}, metrics)
    data = {
        folder: stored_manifest(store, folder)["settings"]
        for folder in sorted({entry.origin.data for entry in records.values()})
    }
    products = [product_json(product, path, source, config, references) for product, path in made]
    card: PageCard | None = read_json(store.folder / SCORECARD) if (store.folder / SCORECARD).exists() else None
    if card:
        card["behind"] = [line_reference(source, config, line, references) for line in card["lines"]]
    index: Index = {
        "results": name,
        "records": len(records),
        "methods": {name: _method(name, label) for name, label in source.labels.items()},
        "products": products,
        "card": card,
        "references": references.as_json(),
        "inside": inside,
    }
    return index, {
        "index": index,
        "runs": {**run_columns(records), "metrics": metrics},
        "curves": curve_columns(records),
        "supports": {**support_columns(records), **features(records, data, store.folder)},
        "trials": searches(store.folder),
        "pictures": pictures(store.folder),
        "config": {"text": _config_text(config)},
    }


def _config_text(config: Config) -> dict[str, str]:
    """The config as YAML, section by section."""
    sections = config.model_dump(mode="json")
    return {
        name: yaml.safe_dump({name: value}, sort_keys=False, allow_unicode=True, width=110)
        for name, value in sections.items()
    }


def _method(name: str, label: str) -> dict[str, str]:
    """The label and style of a method, as in the figures."""
    colour, marker = style(name)
    return {"label": label, "colour": colour, "marker": marker}


def _moved(before: Path, after: Path, names: tuple[str, str]) -> dict[str, object]:
    """The changes between two results folders, each number linked to its cell; `names` are the user's names for
    them."""
    difference = diff(before, after)

    def short(value: Scalar) -> Scalar:
        return rounded(value, 6) if isinstance(value, float) else value

    return {
        "before": names[0],
        "after": names[1],
        "summary": summary(difference),
        "moves": [
            [move.file, move.row, move.column, short(move.before), short(move.after), rounded(move.spreads)]
            for move in difference.moves
        ],
        "verdicts": list(map(asdict, difference.verdicts)),
        "conclusions": list(map(asdict, difference.conclusions)),
        "presence": list(map(asdict, difference.presence)),
    }


def _home(store: Store, index: Index, compared: bool) -> dict[str, object]:
    """The content of the page before any script runs."""
    summary = store.folder / SUMMARY
    return {
        "card": index["card"],
        "sections": [_section(index["card"], name) for name in index["card"]["sections"]] if index["card"] else [],
        "summary": read_json(summary) if summary.exists() else None,
        "categories": list(dict.fromkeys(product["category"] for product in index["products"])),
        "products": index["products"],
        "records": index["records"],
        "results": index["results"],
        "compared": compared,
    }


def _section(card: Card, name: str) -> dict[str, object]:
    """A section of the scorecard: a table of numbers by row and column, or a list of claims."""
    lines = [line for line in card["lines"] if line["section"] == name]
    columns = list(dict.fromkeys(line["column"] for line in lines))
    cells = {(line["row"], line["column"]): _line(line) for line in lines}
    return {
        "name": name,
        "counts": card["sections"][name],
        "matrix": any(columns),
        "columns": [card["labels"].get(column, column) for column in columns],
        "rows": [
            {"name": row, "cells": [cells.get((row, column)) for column in columns]}
            for row in dict.fromkeys(line["row"] for line in lines)
        ],
    }


def _line(line: LineJson) -> dict[str, object]:
    """A line of the scorecard with its formatted numbers."""
    values, paper = [Value(**value) for value in line["ours"]], line.get("paper")
    pairs = {
        "ours": both_written(values) or ABSENT,
        "paper": printed(Printed(**paper) if paper else None),
        "differ": "" if line.get("difference") is None else signed(line["difference"]),
    }
    return {
        "id": line["id"],
        "text": line["text"],
        "verdict": line["verdict"],
        "reason": line["reason"],
        "values": [f"{value.name}: {written(value)}" for value in values],
        "pairs": {name: text for name, text in pairs.items() if text},
    }
