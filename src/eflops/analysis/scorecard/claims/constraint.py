"""The claim that the constraint holds, on all three kinds of data."""

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, at_ratios
from eflops.analysis.scorecard.verdict import Comparison, Judgement

MOST, MOST_SHARE = 2.0, 0.01


def target_density(evidence: Evidence) -> Judgement:
    """The expected number of open gates at the end of training over that of kept weights, over draws or splits.

    Near the target: at most 2 times on the synthetic data (at each N/d) and on MNIST; on the leukaemia data, whose
    target is .1 % of the gates, at most 1 % of them.
    """
    experiments = ("support_recovery", "golub_splits", "mnist")
    synthetic, golub, mnist = (evidence.runs(name, [METHOD], "open_gates") for name in experiments)
    rows = at_ratios(synthetic, list(evidence.paper.recovery)).groupby("ratio")
    most = MOST_SHARE * float(golub["parameters"].iloc[0]) / _target(evidence, golub)
    comparisons = [
        *(_times(evidence, row, "synthetic", f"N/d {ratio:.2f}", "draw") for ratio, row in rows),
        _times(evidence, golub, "leukaemia", "", "split", most),
        _times(evidence, mnist, "MNIST", "", "MNIST draw"),
    ]
    runs = pd.concat([synthetic, golub, mnist])
    family = (
        f"open gates / target at most {MOST:g}, on leukaemia data {most:.3g}, which is {MOST_SHARE:.0%} of its gates"
    )
    return claimed.judge(comparisons, family, "draws or splits", runs)


def _times(evidence: Evidence, runs: pd.DataFrame, data: str, at: str, unit: str, most: float = MOST) -> Comparison:
    values = claimed.per_unit(runs.assign(times=runs["open_gates"] / _target(evidence, runs)), "times", unit)
    name = ", ".join(filter(None, (data, at)))
    scale = "times the target"
    statement = f"{{}} times as many gates are open as weights are kept ({name})"
    measure = f"open gates / kept weights ({name})"
    return Comparison(
        f"{name} ({scale})",
        values,
        below=most,
        statement=statement,
        measure=measure,
        data=data,
        at=at,
        scale=scale,
    )


def _target(evidence: Evidence, runs: pd.DataFrame) -> float:
    """How many weights the paper keeps."""
    return float(evidence.paper.sizes[runs["dataset"].iloc[0]].kept)
