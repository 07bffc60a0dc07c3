"""Ablation: the paper's choices to the letter, with its rates and with ours."""

from eflops.analysis.ablations import LITERAL
from eflops.analysis.source import Source
from eflops.analysis.table import Table


def make(source: Source) -> Table:
    """Support recovery and R2 of every value."""
    return LITERAL.table(source)
