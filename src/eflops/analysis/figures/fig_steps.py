"""Ablation: the number of local steps a round."""

from eflops.analysis.ablations import STEPS
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source


def make(source: Source) -> Figure:
    """Support recovery and R2 of every value."""
    return STEPS.figure(source)
