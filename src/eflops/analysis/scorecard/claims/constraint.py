"""The claim that the constraint holds, on all three kinds of data."""

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, at_ratios
from eflops.analysis.scorecard.verdict import Comparison, Judgement

MOST, MOST_SHARE = 2.0, 0.01


def target_density(evidence: Evidence) -> Judgement:
    """The expected number of open gates at the end of training over that of kept weights, over draws or splits.

    It may be at most 2 on the synthetic data (at each N/d) and on MNIST; on the leukaemia data, whose target is .1 % of
    the gates, at most 1 % of them may be open.
    """
    experiments = ("support_recovery", "golub_splits", "mnist")
    synthetic, golub, mnist = (evidence.runs(name, [METHOD], "open_gates") for name in experiments)
    rows = at_ratios(synthetic, list(evidence.paper.recovery)).groupby("ratio")
    share = claimed.per_unit(golub.assign(share=golub["open_gates"] / golub["parameters"]), "share", "split")
    comparisons = [
        *(_times(evidence, row, "synthetic", f"N/d {ratio:.2f}", "draw") for ratio, row in rows),
        Comparison(
            "leukaemia (share of gates)",
            share,
            below=MOST_SHARE,
            share=True,
            data="leukaemia",
            scale="share of gates",
            statement="a share of {} of the gates is open on leukaemia data",
        ),
        _times(evidence, mnist, "MNIST", "", "MNIST draw"),
    ]
    runs = pd.concat([synthetic, golub, mnist])
    family = f"open gates / target at most {MOST:g}, on leukaemia data open gates / gates at most {MOST_SHARE:g}"
    return claimed.judge(comparisons, family, "draws or splits", runs)


def _times(evidence: Evidence, runs: pd.DataFrame, data: str, at: str, unit: str) -> Comparison:
    target = evidence.paper.sizes[runs["dataset"].iloc[0]].kept
    values = claimed.per_unit(runs.assign(times=runs["open_gates"] / target), "times", unit)
    name = ", ".join(filter(None, (data, at)))
    scale = "times the target"
    statement = f"{{}} times as many gates are open as weights are kept ({name})"
    return Comparison(f"{name} ({scale})", values, below=MOST, data=data, at=at, scale=scale, statement=statement)
