"""The paper's claims, one module each, named as in the targets file: the claim syn-r2 is judged by syn_r2.py.

A claim module has

    EXPERIMENTS, TABLES                   what it reads: a tuple of names (TABLES may be left out)
    judge(evidence: Evidence) -> Judgement

and is found by its name alone. It raises `Missing`, with the reason, where what it needs is not there.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from eflops.errors import UserError

if TYPE_CHECKING:  # pandas stays unloaded while the workflow only asks what a claim reads
    from eflops.analysis.scorecard.evidence import Evidence
    from eflops.analysis.scorecard.verdict import Judgement


def module_of(claim: str) -> str:
    """The module that judges a claim."""
    name = f"{__name__}.{claim.replace('-', '_')}"
    if find_spec(name) is None:
        raise UserError(f"The claim {claim} has no check; it belongs in the module {name}.")
    return name


def judge(claim: str, evidence: "Evidence") -> "Judgement":
    """The judgement of a claim."""
    judgement: Judgement = import_module(module_of(claim)).judge(evidence)
    return judgement
