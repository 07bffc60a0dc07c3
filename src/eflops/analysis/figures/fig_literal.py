"""Ablation: the paper's choices to the letter, with its rates and with ours."""

from eflops.analysis.ablations import LITERAL
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source


def make(source: Source) -> Figure:
    """Support recovery and R2 of every value."""
    return LITERAL.figure(source)
