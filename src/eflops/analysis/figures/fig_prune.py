"""Ablation: pruning from the first round, from half way, or late."""

from eflops.analysis.ablations import PRUNE
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source


def make(source: Source) -> Figure:
    """Support recovery and R2 of every value."""
    return PRUNE.figure(source)
