"""Making the scorecard: read what there is, judge it, write both forms."""

import json
from collections.abc import Iterable
from pathlib import Path

from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard.build import Scorecard, build
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.markdown import markdown
from eflops.analysis.source import Source
from eflops.errors import UserError
from eflops.files import write_text


def scorecard(results: Path, targets: Path, labels: dict[str, str], experiments: Iterable[str]) -> Scorecard:
    """The scorecard of a results folder, of which the named experiments count."""
    return build(Evidence(Source(results, labels), frozenset(experiments), read_paper(targets)))


def make(results: Path, targets: Path, labels: dict[str, str], experiments: Iterable[str], out: Iterable[Path]) -> None:
    """Judge, and write each of the files `out` by its ending."""
    card = scorecard(results, targets, labels, experiments)
    for path in out:
        write(card, path)


def write(card: Scorecard, path: Path) -> None:
    """Write the form that the file's ending names."""
    forms = {".md": markdown, ".json": _json}
    if path.suffix not in forms:
        raise UserError(f"{path}: a scorecard is written as {', '.join(forms)}.")
    write_text(path, forms[path.suffix](card))


def _json(card: Scorecard) -> str:
    """In the order in which a person would read it, so keys are not sorted."""
    return json.dumps(card.as_json(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
