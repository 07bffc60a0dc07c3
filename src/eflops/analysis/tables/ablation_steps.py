"""Ablation: the number of local steps a round."""

from eflops.analysis.ablations import STEPS
from eflops.analysis.source import Source
from eflops.analysis.table import Table


def make(source: Source) -> Table:
    """Support recovery and R2 of every value."""
    return STEPS.table(source)
