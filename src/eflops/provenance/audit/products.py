"""Rebuild and compare what follows from the records: gathered files, tables, figures, scorecard, summary."""

import base64
import csv
import io
import itertools
import json
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.pyplot as plt

from eflops.analysis.figure import Figure
from eflops.analysis.needs import WHOLE, summary_sources, summary_trials
from eflops.analysis.scorecard.card import Card
from eflops.analysis.scorecard.make import build, markdown
from eflops.analysis.source import Source
from eflops.analysis.summary import write as summary
from eflops.analysis.table import Table
from eflops.config.models import Config
from eflops.config.products import Product, products, target_of
from eflops.errors import UserError
from eflops.files import inflate, read_json, sha256
from eflops.provenance.audit.records import differences
from eflops.provenance.explain import verdicts
from eflops.provenance.explain.address import picture_hash
from eflops.provenance.explain.recompute import FromRecords, remake
from eflops.results.findings import Finding
from eflops.results.paths import EXPLORER, SCORECARD, SCORECARD_TEXT, SUMMARY, SUMMARY_OF_REPORT, SUMMARY_TEXT
from eflops.results.store import Store

# A published table may have been made on another kind of machine, which may round the last digits otherwise.
ROUNDING = 1e-9
# The parts of the explorer's page: zlib's streams begin with these letters in base64.
DEFLATED = re.compile(r"(?<=>)eN[A-Za-z0-9+/=]{20,}(?=<)")
SHOWN = 5
SUMMARIES = (SUMMARY, SUMMARY_TEXT, SUMMARY_OF_REPORT)


def check_gathered(store: Store, source: FromRecords) -> Iterator[Finding]:
    """Check the gathered files of experiments with complete records against rebuilt ones."""
    for name, text in source.texts.items():
        path = store.folder / name
        if path.exists():
            yield from compare_csv(name, _text(path), text, exact=True)


def check_product(store: Store, source: Source, product: Product, config: Config, pictures: bool) -> Iterator[Finding]:
    """Check the files of a table or figure against a rebuilt one."""
    made = remake(product, source, config)
    for name in product.files:
        path = store.folder / name
        if not path.exists():
            continue
        if path.suffix == ".csv":
            yield from compare_csv(name, _text(path), made.data.to_csv(index=False), exact=not store.published)
        elif isinstance(made, Table):
            yield from compare_lines(name, _text(path), made.form(path.suffix))
        else:
            yield from _check_picture(name, path, made, pictures)
    plt.close("all")


def check_scorecard(store: Store, source: Source, config: Config, whole: set[str]) -> Iterator[Finding]:
    """Check every line of the scorecard, and its Markdown form, if all experiments that it judges are complete."""
    path = store.folder / SCORECARD
    if not path.exists() or not whole.issuperset(verdicts.scorecard_experiments(store.folder, config)):
        return
    try:
        card = build(verdicts.evidence_of(source, config))
        stored = _by_line(read_json(path))
    except (UserError, FileNotFoundError, ValueError, KeyError, TypeError) as error:
        yield Finding("different", SCORECARD, f"its verdicts cannot be recomputed: {error}")
        return
    # Through text, as the file went, so that a tuple is a list here too.
    expected = _by_line(json.loads(json.dumps(card.as_json())))
    for key, was, right in differences(stored, expected):
        if not (store.published and close(was, right)):
            yield Finding("different", SCORECARD, f"{key}: the file has {was!r}, the records give {right!r}")
    read = store.folder / SCORECARD_TEXT
    if read.exists():
        yield from compare_lines(read.name, _text(read), markdown(card))


def _by_line(card: Card) -> dict[str, object]:
    """A scorecard with its lines indexed by id."""
    return {**card, "lines": {line["id"]: line for line in card["lines"]}}


def check_summary(store: Store, config: Config) -> Iterator[Finding]:
    """Check every line of the summary's files."""
    present = [name for name in SUMMARIES if (store.folder / name).exists()]
    if not present:
        return
    # Experiments with a target of their own are no part of a whole run, nor of its summary.
    known = [product for product in products(config) if target_of(config, product) in WHOLE]
    sources, trials = frozenset(summary_sources(known)), tuple(summary_trials(known))
    try:
        expected = summary.summarise(Source(store.folder, files=sources, resources=trials))
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield Finding("different", present[0], f"it cannot be rebuilt: {error}")
        return
    for name in present:
        yield from compare_lines(name, _text(store.folder / name), summary.form(expected, Path(name).suffix))


def check_explorer(
    store: Store, config: Config, whole: set[str], page: Callable[[Path, str], str] | None
) -> Iterator[Finding]:
    """Check the explorer's page part by part, uncompressed because zlib versions differ, if all experiments are
    complete."""
    path = store.folder / EXPLORER
    if page is None or not path.exists() or not whole.issuperset(config.experiments):
        return
    stored, expected = inflated(_text(path)), inflated(page(store.folder, config.results))
    if stored != expected:
        pairs = itertools.zip_longest(stored, expected, fillvalue="")
        number, (was, right) = next((number, pair) for number, pair in enumerate(pairs) if pair[0] != pair[1])
        start = next((at for at, (one, other) in enumerate(zip(was, right, strict=False)) if one != other), 0)
        shown = slice(max(0, start - 30), start + 30)
        what = f"in part {number} the page has {was[shown]!r}, the records give {right[shown]!r}"
        yield Finding("different", EXPLORER, what)


def inflated(page: str) -> list[str]:
    """A page's text, and the text of each of its deflated parts."""
    parts = DEFLATED.findall(page)
    return [DEFLATED.sub("", page), *(inflate(base64.b64decode(part)).decode() for part in parts)]


def compare_csv(file: str, stored: str, expected: str, exact: bool) -> Iterator[Finding]:
    """The cells in which two CSV texts differ; only the first few are listed."""
    if stored == expected:
        return
    (head, *rows), (right_head, *right_rows) = _rows(stored), _rows(expected)
    if head != right_head or len(rows) != len(right_rows):
        what = f"the file has {len(rows)} rows of {', '.join(head)}"
        yield Finding("different", file, f"{what}, the records give {len(right_rows)} of {', '.join(right_head)}")
        return
    wrong = list(_cells(head, rows, right_rows, exact))
    for what in wrong[:SHOWN]:
        yield Finding("different", file, what)
    if len(wrong) > SHOWN:
        yield Finding("different", file, f"and {len(wrong) - SHOWN} more cells")
    if not wrong and exact:
        yield Finding("different", file, "its cells are right, but its bytes differ from those that were written")


def compare_lines(file: str, stored: str, expected: str) -> Iterator[Finding]:
    """The first line in which two texts differ."""
    pairs = itertools.zip_longest(stored.split("\n"), expected.split("\n"))
    for number, (line, right) in enumerate(pairs, 1):
        if line != right:
            yield Finding("different", file, f"line {number} is {line!r}, and the records give {right!r}")
            return


def close(cell: object, expected: object) -> bool:
    """Whether two cells are numbers that differ only in the rounding of their last digits."""
    try:
        return math.isclose(float(str(cell)), float(str(expected)), rel_tol=ROUNDING, abs_tol=ROUNDING)
    except ValueError:
        return False


def _cells(head: list[str], rows: list[list[str]], right_rows: list[list[str]], exact: bool) -> Iterator[str]:
    for number, (row, right) in enumerate(zip(rows, right_rows, strict=True), 1):
        for column, (cell, expected) in enumerate(itertools.zip_longest(row, right, fillvalue="")):
            if cell != expected and (exact or not close(cell, expected)):
                name = head[column] if column < len(head) else f"column {column + 1}"
                yield f"row {number} ({', '.join(right[:3])}), {name}: the file has {cell}, the records give {expected}"


def _check_picture(name: str, path: Path, made: Figure, redraw: bool) -> Iterator[Finding]:
    table = path.with_suffix(".csv")
    drawn_from = picture_hash(path)
    if table.exists() and drawn_from != sha256(table):
        yield Finding("different", name, f"it does not state that it was drawn from the numbers in {table.name}")
    if redraw:
        with tempfile.TemporaryDirectory(prefix="eflops-") as folder:
            again = Path(folder) / path.name
            made.write(again, drawn_from)
            if again.read_bytes() != path.read_bytes():
                yield Finding("different", name, "redrawn from the records, it has other bytes")


def _rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text))) or [[]]


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")
