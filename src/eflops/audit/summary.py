"""The closing summary against the tables and the scorecard beside it, which are checked against the records."""

from collections.abc import Iterator

from eflops.analysis.needs import SUMMARY, summary_sources
from eflops.analysis.source import Source
from eflops.analysis.summary.write import text
from eflops.audit.findings import Finding
from eflops.audit.products import compare_lines
from eflops.config.models import Config
from eflops.config.products import products
from eflops.results.store import Store


def check_summary(store: Store, config: Config) -> Iterator[Finding]:
    """Every line of the summary."""
    path = store.folder / SUMMARY
    if not path.exists():
        return
    sources = summary_sources(products(config))
    try:
        expected = text(Source(store.folder, files=frozenset(sources)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield Finding("different", SUMMARY, f"it cannot be made again: {error}")
        return
    yield from compare_lines(SUMMARY, path.read_bytes().decode(errors="replace"), expected)
