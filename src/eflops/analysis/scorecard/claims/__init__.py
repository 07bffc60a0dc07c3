"""The paper's claims: the claim syn-r2 of the targets file is judged by the function syn_r2 of a module in this folder.

Such a function takes the evidence, returns a judgement, and is marked with what it reads and with the claim in our own
few words (`claimed.claim`). It raises `Missing`, with the reason, where what it needs is not there.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from eflops import trust
from eflops.errors import UserError

if TYPE_CHECKING:  # pandas stays unloaded while the workflow only asks what a claim reads
    from eflops.analysis.scorecard.claimed import Claim
    from eflops.analysis.scorecard.evidence import Evidence
    from eflops.analysis.scorecard.line import Line
    from eflops.analysis.scorecard.verdict import Judgement


def lines(evidence: "Evidence") -> "Iterator[Line]":
    """One line per claim."""
    from eflops.analysis.scorecard.line import Line

    for name, text in evidence.paper.claims.items():
        try:
            short = _load(name).short
        except UserError:
            short = text
        yield Line(f"claim/{name}", name, "", text, judge(name, evidence), short=short)


def judge(name: str, evidence: "Evidence") -> "Judgement":
    """The judgement of a claim; not judged where something that it needs is missing."""
    from eflops.analysis.scorecard.verdict import unjudged

    try:
        return _load(name).judge(evidence)
    except UserError as lack:
        return unjudged(str(lack))


def module_of(name: str) -> str:
    """The module that judges a claim."""
    return f"{__name__}.{_found(name)[0].stem}"


def experiments_of(name: str) -> list[str]:
    """What a claim reads, as the mark above its function states it."""
    marks = [mark for mark in _found(name)[1].decorator_list if isinstance(mark, ast.Call)]
    return [ast.literal_eval(argument) for mark in marks for argument in mark.args]


def _load(name: str) -> "Claim":
    claim: Claim = trust.load("claim", f"{module_of(name)}:{_function(name)}")
    return claim


def _function(name: str) -> str:
    return name.replace("-", "_")


def _found(name: str) -> tuple[Path, ast.FunctionDef]:
    """The file and the source of a claim's function."""
    for path in sorted(path for folder in __path__ for path in Path(folder).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == _function(name):
                return path, node
    raise UserError(f"The claim {name} has no check; it is a function {_function(name)} in a module of {__name__}.")
