"""Ablation: the noise-free gate at test time, with or without the temperature beta."""

from eflops.analysis.ablations import GATE
from eflops.analysis.source import Source
from eflops.analysis.table import Table


def make(source: Source) -> Table:
    """Support recovery and R2 of every value."""
    return GATE.table(source)
