"""The paper's claims, one module each, named as in the targets file: the claim syn-r2 is judged by syn_r2.py.

A claim module has

    EXPERIMENTS                           what it reads: a tuple of names
    SHORT                                 the claim in our own few words, for the summary (else the paper's)
    judge(evidence: Evidence) -> Judgement

and is found by its name alone. It raises `Missing`, with the reason, where what it needs is not there.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from eflops.errors import UserError

if TYPE_CHECKING:  # pandas stays unloaded while the workflow only asks what a claim reads
    from eflops.analysis.scorecard.evidence import Evidence
    from eflops.analysis.scorecard.line import Line
    from eflops.analysis.scorecard.verdict import Judgement


def lines(evidence: "Evidence") -> "Iterator[Line]":
    """One line per claim."""
    from eflops.analysis.scorecard.line import Line
    from eflops.analysis.scorecard.sections import CLAIMS

    for claim, text in evidence.paper.claims.items():
        yield Line(f"claim/{claim}", CLAIMS, claim, "", text, judge(claim, evidence), short=_short(claim) or text)


def judge(claim: str, evidence: "Evidence") -> "Judgement":
    """The judgement of a claim; not judged where something that it needs is missing."""
    from eflops.analysis.scorecard.verdict import unjudged

    try:
        judgement: Judgement = import_module(module_of(claim)).judge(evidence)
    except UserError as lack:
        return unjudged(str(lack))
    return judgement


def _short(claim: str) -> str:
    try:
        return getattr(import_module(module_of(claim)), "SHORT", "")
    except UserError:
        return ""


def module_of(claim: str) -> str:
    """The module that judges a claim."""
    name = f"{__name__}.{claim.replace('-', '_')}"
    if find_spec(name) is None:
        raise UserError(f"The claim {claim} has no check; it belongs in the module {name}.")
    return name
