"""Ablation: pruning from the first round, from half way, or late."""

from eflops.analysis.ablations import PRUNE
from eflops.analysis.source import Source
from eflops.analysis.table import Table


def make(source: Source) -> Table:
    """Support recovery and R2 of every value."""
    return PRUNE.table(source)
