"""Ablation: the gate parameters from mean gates as printed in the paper, or by the exact inverse."""

from eflops.analysis.ablations import RECOVERY
from eflops.analysis.figure import Figure
from eflops.analysis.source import Source


def make(source: Source) -> Figure:
    """Support recovery and R2 of every value."""
    return RECOVERY.figure(source)
