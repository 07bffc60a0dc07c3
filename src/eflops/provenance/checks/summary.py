"""The closing summary against the tables and the scorecard beside it, which are checked against the records."""

from collections.abc import Iterator

from eflops.analysis.catalogue import products
from eflops.analysis.catalogue.whole import SUMMARY, summary_sources
from eflops.analysis.closing import Made, text
from eflops.config.models import Config
from eflops.provenance.checks.products import compare_lines
from eflops.provenance.findings import Finding
from eflops.provenance.store import Store


def check_summary(store: Store, config: Config) -> Iterator[Finding]:
    """Every line of the summary."""
    path = store.folder / SUMMARY
    if not path.exists():
        return
    sources = summary_sources({name for product in products(config) for name in product.files})
    try:
        expected = text(Made(store.folder, frozenset(sources)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        yield Finding("different", SUMMARY, f"it cannot be made again: {error}")
        return
    yield from compare_lines(SUMMARY, path.read_bytes().decode(errors="replace"), expected)
