"""Making the scorecard: read what there is, judge it, write the three forms."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eflops.analysis.paper import read_paper
from eflops.analysis.scorecard.build import Scorecard, build
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.html import html
from eflops.analysis.scorecard.markdown import markdown
from eflops.analysis.source import Source
from eflops.errors import UserError
from eflops.files import write_text


def scorecard(
    results: Path, targets: Path, context: dict[str, Any], experiments: Iterable[str], tables: Iterable[str]
) -> Scorecard:
    """The scorecard of a results folder, of which the named experiments and tables count."""
    return build(Evidence(Source(results, context), frozenset(experiments), frozenset(tables), read_paper(targets)))


def write(card: Scorecard, path: Path) -> None:
    """Write the form that the file's ending names."""
    forms = {".md": markdown, ".html": html, ".json": _json}
    if path.suffix not in forms:
        raise UserError(f"{path}: a scorecard is written as {', '.join(forms)}.")
    write_text(path, forms[path.suffix](card))


def gathered(results: Path) -> list[str]:
    """The experiments whose runs a results folder holds."""
    return sorted(path.stem for path in (results / "gathered").glob("*.csv") if "." not in path.stem)


def made(results: Path) -> list[str]:
    """The tables that a results folder holds."""
    return sorted(path.stem for path in (results / "tables").glob("*.csv"))


def _json(card: Scorecard) -> str:
    """In the order in which a person would read it, so keys are not sorted."""
    return json.dumps(card.as_json(), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
