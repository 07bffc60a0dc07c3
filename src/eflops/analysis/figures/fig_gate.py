"""Ablation: the noise-free gate at test time, with or without the temperature beta."""

from eflops.analysis.ablations import GATE
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source


def make(source: Source) -> Figure:
    """Support recovery and R2 of every value."""
    return GATE.figure(source)
