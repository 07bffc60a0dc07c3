"""The paper's paired t-test: E-FLoPS against Fed-IHT in final test accuracy, over the run seeds of one split."""

import math
from collections.abc import Iterator

from eflops.analysis.paired import paired_tests
from eflops.analysis.paper import t_sd
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.line import Line, Number, compared
from eflops.analysis.scorecard.verdict import DECADES_TOLERANCE, Value, judge_number, tolerance, unjudged
from eflops.errors import UserError

EXPERIMENTS = ("golub_runs",)
SECTION = "Paired t-test"
COLUMN = "eflops - fediht"


def lines(evidence: Evidence) -> Iterator[Line]:
    """t and p."""
    paper = evidence.paper
    try:
        t, p = _tested(evidence)
    except UserError as lack:
        for name, printed in (("t", paper.t), ("p", paper.p)):
            yield Line(f"golub-test/{name}", SECTION, name, COLUMN, "", unjudged(str(lack)), printed)
        return
    contrary = "" if (t.mean or 0.0) > 0 else f"{evidence.label('fediht')} is the better one"
    allowed = tolerance(paper.t.sd, 0.0)
    yield compared(Number("golub-test/t", SECTION, "t", COLUMN, paper.t, t, allowed, "", contrary))
    decades = math.log10(max(p.mean or 0.0, 1e-300) / paper.p.value)
    judgement = judge_number(p, decades, DECADES_TOLERANCE, contrary, " decade")
    yield Line("golub-test/p", SECTION, "p", COLUMN, "", judgement, paper.p, DECADES_TOLERANCE, decades)


def _tested(evidence: Evidence) -> tuple[Value, Value]:
    """Our t and p."""
    runs = evidence.runs("golub_runs", ["eflops", "fediht"], "accuracy")
    test = paired_tests(runs, "accuracy", "eflops", ["fediht"], ["draw", "seed"], "golub_runs").iloc[0]
    t, p, pairs, missing = float(test["t"]), float(test["p"]), int(test["pairs"]), int(test["missing"])
    if not math.isfinite(t):
        raise Missing("All differences are equal, so that t is not defined.")
    return Value("t", t, t_sd(t, int(test["n"])), pairs, missing), Value("p", p, None, pairs, missing)
