"""What stands at the end of a run: where to look, and the closing summary."""

from pathlib import Path

from eflops.analysis.catalogue.whole import SUMMARY
from eflops.errors import UserError

PLACES = {
    "report.html": "every table and figure, in a browser, without a network",
    "scorecard.html": "each number and claim of the paper beside ours",
    "tables": "as CSV, Markdown, LaTeX and HTML",
    "figures": "as SVG, PDF, PNG, and their numbers as CSV",
    "runs": "one record a run; `eflops explain` leads from a number to them",
}


def told(results: Path) -> str:
    """Both, of a finished results folder."""
    try:
        summary = (results / SUMMARY).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{results}: there is no {SUMMARY}, so the run is not complete; run: snakemake all") from None
    present = {results / name: words for name, words in PLACES.items() if (results / name).exists()}
    width = max((len(str(path)) for path in present), default=0)
    places = [f"  {path!s:{width}}  {words}" for path, words in present.items()]
    return "\n".join(["**Where to look**", "", *places, "", summary.rstrip()])
