"""The summary as files, and as the closing message of a run."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from eflops.analysis.scorecard.card import Card
from eflops.analysis.scorecard.line import count_verdicts
from eflops.analysis.scorecard.sections import section_of
from eflops.analysis.source import Source
from eflops.analysis.summary import effects, verdicts
from eflops.analysis.summary.point import Point, Subject, Summary
from eflops.errors import UserError
from eflops.files import read_json, write_text
from eflops.results import paths
from eflops.results.paths import SCORECARD

# The points of each subject; a subject without a point is left out.
SUBJECTS: dict[str, Callable[[Card, Source], Iterator[Point]]] = {
    "The paper's numbers and claims": verdicts.counts,
    "Holds": verdicts.holds,
    "Does not hold": verdicts.does_not_hold,
    "Inconclusive": verdicts.inconclusive,
    "Not judged": verdicts.not_judged,
    "Selected genes, Table 2": verdicts.genes,
    "Entropy": effects.entropy,
    "The constraint on open gates": verdicts.constraint,
    "The paper's settings": effects.settings,
    "Sparse messages throughout": effects.sparse_messages,
    "Gates that weights share (ours, beyond the paper)": effects.shared_gates,
    "Held-out data sets": effects.beyond,
}


def summarise(source: Source) -> Summary:
    """The summary from the scorecard and tables that a source may read."""
    card: Card = read_json(source.path(SCORECARD))
    subjects = [Subject(name, tuple(points(card, source))) for name, points in SUBJECTS.items()]
    return Summary(card["sections"], verdicts.claims(card), tuple(subject for subject in subjects if subject.points))


def form(summary: Summary, suffix: str) -> str:
    """The text of the form that a file's suffix names: JSON, Markdown, or reStructuredText for the report."""
    if suffix == ".json":
        return json.dumps(summary.as_json(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    return summary.markdown(links=suffix == ".md")


def write(results: Path, sources: frozenset[str], trials: Iterable[str], out: Iterable[Path]) -> None:
    """Write the summary of a results folder in the form that each file's suffix names."""
    summary = summarise(Source(results, files=sources, resources=tuple(trials)))
    for path in out:
        write_text(path, form(summary, path.suffix))


def closing(results: Path) -> str:
    """The closing message of a run, in about ten lines: the verdicts, the findings, and where to look."""
    try:
        summary = Summary.of(read_json(results / paths.SUMMARY))
    except FileNotFoundError:
        raise UserError(
            f"{results}: there is no {paths.SUMMARY}, so the run is not complete; run: snakemake all"
        ) from None
    page, more = (results / name for name in (paths.EXPLORER, paths.SUMMARY_TEXT))
    return "\n".join(
        [
            *(f"{point.headline}: {point.text}" for point in summary.headlines),
            f"Claims: {count_verdicts([section_of('claim')], summary.verdicts)}",
            f"All findings: {more}",
            f"Every number with its runs: open {page} in a browser.",
        ]
    )
