"""The summary as a file, and where to look in a finished results folder.

Each point of the Markdown ends in a link to its runs. Without the links the text is reStructuredText too, which the
report and the terminal show.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from eflops.analysis.needs import SCORECARD, SUMMARY
from eflops.analysis.source import Source
from eflops.analysis.summary import effects, verdicts
from eflops.analysis.summary.verdicts import Card, Point
from eflops.errors import UserError
from eflops.files import read_json, write_text
from eflops.results.paths import EXPLORER

TITLE = "**What this run found**"
LINK = re.compile(rf" \[runs\]\({re.escape(EXPLORER)}#[^)]*\)")
PLACES = {
    "explorer.html": "every number with its runs, in a browser, without a network",
    "scorecard.md": "each number and claim of the paper beside ours",
    "tables": "as CSV, Markdown, LaTeX and HTML",
    "figures": "as SVG, PDF, PNG, and their numbers as CSV",
    "runs": "one record per run; `eflops explain` leads from a number to them",
}
# What each subject finds, one point after the other; a subject without a point is left out.
SUBJECTS: dict[str, Callable[[Card, Source], Iterator[Point]]] = {
    "The paper's numbers and claims": verdicts.counts,
    "Holds": verdicts.holds,
    "Does not hold": verdicts.does_not_hold,
    "Cannot be told": verdicts.cannot_be_told,
    "Not judged": verdicts.not_judged,
    "Selected genes, Table 2": verdicts.genes,
    "Entropy": effects.entropy,
    "The constraint on open gates": verdicts.constraint,
    "The paper's settings": effects.settings,
    "Sparse messages throughout": effects.sparse_messages,
    "Data that chose nothing": effects.beyond,
}


def write(results: Path, sources: frozenset[str], trials: Iterable[str], path: Path) -> None:
    """Write the summary of a results folder, and beside it the same without links."""
    found = text(Source(results, files=sources, resources=tuple(trials)))
    write_text(path, found)
    write_text(path.with_suffix(".rst"), plain(found))


def plain(summary: str) -> str:
    """The summary without its links."""
    return LINK.sub("", summary)


def text(source: Source) -> str:
    """The title, and below each subject its points, every one with a link to its runs.

    The blank lines around nested lists are what reStructuredText needs.
    """
    card: Card = read_json(source.path(SCORECARD))
    lines = [TITLE, ""]
    for subject, points in SUBJECTS.items():
        told = [f"  - {point} [runs]({EXPLORER}#{place})" for point, place in points(card, source)]
        lines += [f"- **{subject}**", "", *told, ""] if told else []
    return "\n".join(lines)


def with_places(results: Path) -> str:
    """Where to look in a finished results folder, and its summary."""
    try:
        summary = (results / SUMMARY).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{results}: there is no {SUMMARY}, so the run is not complete; run: snakemake all") from None
    present = {results / name: words for name, words in PLACES.items() if (results / name).exists()}
    width = max((len(str(path)) for path in present), default=0)
    places = [f"  {path!s:{width}}  {words}" for path, words in present.items()]
    return "\n".join(["**Where to look**", "", *places, "", plain(summary).rstrip()])
