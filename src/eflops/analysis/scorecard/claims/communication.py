"""The claims on the cost of sparse communication on synthetic data, paired over draws and judged at each N/d."""

import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.claims.mnist import NEAR, TOTAL
from eflops.analysis.scorecard.claims.synthetic import MARGIN, TABLE
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.verdict import Comparison, Judgement
from eflops.analysis.stats.costs import with_costs
from eflops.analysis.text import MINUS

SPARSE = "sparse_both"
METRICS = {"support_recovery": "support recovery", "r2": "test R2"}


def sparse_performance(evidence: Evidence) -> Judgement:
    """E-FLoPS cut from the first round, in messages both ways, minus the E-FLoPS of Table 1, each with its own search.

    Not compromised: recovery and R2 are at no N/d more than .02 lower. Both have the same draws.
    """
    dense = evidence.runs(TABLE, [METHOD], "r2")
    sparse = evidence.runs(SPARSE, [METHOD], "r2")
    comparisons = [
        Comparison(
            f"{name} at {ratio:.2f}",
            claimed.per_unit(mine, metric) - claimed.per_unit(dense[dense["ratio"] == ratio], metric),
            above=-MARGIN,
            statement=f"sparse messages change {name} by {{}} at N/d {ratio:.2f}",
            measure=f"{name} at N/d {ratio:.2f}, sparse {MINUS} Table 1's messages",
        )
        for ratio, mine in sparse[sparse["ratio"].isin(dense["ratio"])].groupby("ratio")
        for metric, name in METRICS.items()
    ]
    if not comparisons:
        raise Missing(f"{TABLE} and {SPARSE} have no N/d in common.")
    judgement = claimed.judge(comparisons, f"sparse minus dense at each N/d, at most {MARGIN:g} lower", "draws", sparse)
    shares = [_share(runs, METHOD) for runs in (sparse, dense)]
    return claimed.with_words(judgement, f"Bytes of training: {shares[0]} sparse, {shares[1]} in Table 1.")


def sparse_fediht(evidence: Evidence) -> Judgement:
    """E-FLoPS minus Fed-IHT, both cut from the first round, in messages both ways.

    Recovery and R2 are higher at every N/d; contradicted if one is clearly less than .02 higher.
    """

    def against(baseline: str) -> Judgement:
        runs = evidence.runs(SPARSE, [METHOD, baseline], "r2")
        comparisons = claimed.leads(evidence, runs, [baseline], METRICS, MARGIN)
        judgement = claimed.judge(comparisons, "recovery and R2 at each N/d", "draws", runs)
        shares = f"{_share(runs, METHOD)} for E-FLoPS, {_share(runs, baseline)} for {evidence.label(baseline)}"
        return claimed.with_words(judgement, f"Bytes of training: {shares}.")

    return claimed.under_both_names(evidence, against)


def syn_comm(evidence: Evidence) -> Judgement:
    """The bytes of the runs that make Table 1, over both phases, as a multiple of the baseline's at each N/d.

    Comparable: at most 3.2 times as many, as for MNIST, for which the paper's formulas give about that factor. The
    claim compares two methods alone, so its sentence also has the bytes of training beside those of dense messages.
    """

    def against(baseline: str) -> Judgement:
        runs = evidence.runs(TABLE, [METHOD, baseline], "r2")
        runs = runs.assign(total=runs[TOTAL].sum(axis=1))
        label = evidence.label(baseline)
        comparisons = [
            Comparison(
                f"bytes at {ratio:.2f}",
                claimed.per_unit(part[part["method"] == METHOD], "total")
                / claimed.per_unit(part[part["method"] == baseline], "total"),
                below=NEAR,
                statement=f"E-FLoPS sends {_share(part, METHOD)} of dense training's bytes and {{}} times the bytes of "
                f"{label} at N/d {ratio:.2f}",
                measure=f"bytes at N/d {ratio:.2f} (E-FLoPS: {_share(part, METHOD)} of dense), E-FLoPS / {label}",
            )
            for ratio, part in runs.groupby("ratio")
        ]
        judgement = claimed.judge(comparisons, f"at most {NEAR:g} times the other's bytes", "draws", runs)
        shares = f"{_share(runs, METHOD)} for E-FLoPS, {_share(runs, baseline)} for {label}"
        return claimed.with_words(judgement, f"Bytes of training as a share of dense messages: {shares}.")

    return claimed.under_both_names(evidence, against)


def _share(runs: pd.DataFrame, method: str) -> str:
    """A method's training bytes as a share of the bytes of the same number of dense messages."""
    return f"{with_costs(runs[runs['method'] == method])['share_training'].mean():.0%}"
