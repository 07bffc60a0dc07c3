"""The scorecard against the records, judged again, and the summary against the scorecard and tables beside it."""

import json
from collections.abc import Iterator
from typing import Any

from eflops.analysis.needs import SCORECARD, SUMMARY, summary_sources, summary_trials
from eflops.analysis.scorecard.make import markdown
from eflops.analysis.source import Source
from eflops.analysis.summary.write import text
from eflops.audit.findings import Finding
from eflops.audit.products import close, compare_lines
from eflops.audit.records import differences
from eflops.config.models import Config
from eflops.config.products import products
from eflops.errors import UserError
from eflops.explain import verdicts
from eflops.files import read_json
from eflops.results.store import Store


def check_scorecard(store: Store, source: Source, config: Config) -> Iterator[Finding]:
    """Every line of the scorecard, and the text of its form for reading."""
    path = store.folder / SCORECARD
    if not path.exists():
        return
    try:
        card = verdicts.judged(source, config)
        stored = _by_line(read_json(path))
    except (UserError, FileNotFoundError, ValueError, KeyError, TypeError) as error:
        yield Finding("different", SCORECARD, f"it cannot be judged again: {error}")
        return
    # Through text, as the file went, so that a tuple is a list here too.
    expected = _by_line(json.loads(json.dumps(card.as_json())))
    for place, was, right in differences(stored, expected):
        if not (store.published and close(was, right)):
            yield Finding("different", SCORECARD, f"{place}: {was!r} stands there, the records give {right!r}")
    read = store.folder / "scorecard.md"
    if read.exists():
        yield from compare_lines(read.name, read.read_bytes().decode(errors="replace"), markdown(card))


def _by_line(card: dict[str, Any]) -> dict[str, Any]:
    """A scorecard whose lines are found by their ids."""
    return {**card, "lines": {line["id"]: line for line in card["lines"]}}


def check_summary(store: Store, config: Config) -> Iterator[Finding]:
    """Every line of the summary."""
    path = store.folder / SUMMARY
    if not path.exists():
        return
    known = products(config)
    sources, trials = frozenset(summary_sources(known)), tuple(summary_trials(known))
    try:
        expected = text(Source(store.folder, files=sources, resources=trials))
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield Finding("different", SUMMARY, f"it cannot be made again: {error}")
        return
    yield from compare_lines(SUMMARY, path.read_bytes().decode(errors="replace"), expected)
