"""Paired tests of the test R2: E-FLoPS against every other method at each N/d."""

from eflops.analysis.source import Source
from eflops.analysis.table import Table
from eflops.analysis.tables.support_recovery_tests import make_for


def make(source: Source) -> Table:
    """One row a ratio and other method."""
    return make_for(source, "r2", "test R²")
