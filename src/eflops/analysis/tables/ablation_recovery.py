"""Ablation: the gate parameters from mean gates as printed in the paper, or by the exact inverse."""

from eflops.analysis.ablations import RECOVERY
from eflops.analysis.source import Source
from eflops.analysis.table import Table


def make(source: Source) -> Table:
    """Support recovery and R2 of every value."""
    return RECOVERY.table(source)
