"""The claims on synthetic data, each paired over draws."""

import pandas as pd

from eflops.analysis.paper import DENSE, METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence, Missing, at_ratios
from eflops.analysis.scorecard.verdict import Comparison, Judgement

TABLE = "support_recovery"
# What is clearly less than this ahead is not ahead: of the support, one weight of 50.
MARGIN = 0.02
# Where the paper shows R2 over rounds.
SHOWN = 0.64
STABLE = 0.1


def syn_r2(evidence: Evidence) -> Judgement:
    """The final R2 at each N/d of the paper's table; contradicted if it is clearly less than .02 higher."""

    def against(baseline: str) -> Judgement:
        runs = at_ratios(evidence.runs(TABLE, [METHOD, baseline], "r2"), list(evidence.paper.recovery))
        comparisons = claimed.leads(evidence, runs, [baseline], {"r2": "test R2"}, MARGIN)
        return claimed.judge(comparisons, "R2 at each N/d", "draws", runs)

    return claimed.under_both_names(evidence, against)


def syn_r2_fedavg(evidence: Evidence) -> Judgement:
    """At the end of training and after finetuning, contradicted if R2 is clearly less than .02 higher.

    "During training" means that it is the higher one in more than half of the training rounds that were evaluated.
    """
    runs = at_ratios(evidence.runs(TABLE, [METHOD, DENSE], "r2"), [SHOWN])
    curves = evidence.curves(TABLE)
    training = curves[curves["record"].isin(runs["record"]) & (curves["phase"] == "training") & (curves["round"] > 0)]
    last = training.sort_values("round").groupby("record")["r2"].last()
    trained = runs.assign(r2=runs["record"].map(last))
    # Of the rounds that both methods have, the share at which E-FLoPS is the higher one, by draw.
    means = training.groupby(["draw", "round", "method"])["r2"].mean().unstack("method").dropna()
    above = (means[METHOD] > means[DENSE]).groupby("draw").mean()
    comparisons = [
        *(
            claimed.better(
                rows,
                "r2",
                DENSE,
                MARGIN,
                stage,
                statement=f"E-FLoPS minus {evidence.label(DENSE)} is {{}} in test R2 {stage}",
                measure=f"test R2 {stage}, {claimed.difference(evidence.label(DENSE))}",
            )
            for rows, stage in ((trained, "after training"), (runs, "after finetuning"))
        ),
        Comparison(
            "share of training rounds above",
            above.set_axis([f"draw {draw}" for draw in above.index]),
            above=0.5,
            statement="E-FLoPS has the higher test R2 in a share of {} of the training rounds",
            measure="share of training rounds with the higher test R2",
            share=True,
        ),
    ]
    return claimed.judge(comparisons, "R2 at two stages, and the share of rounds", "draws", runs)


def syn_support(evidence: Evidence) -> Judgement:
    """Better than both wherever the paper prints it in bold; contradicted if it is clearly less than .02 ahead.

    In the paper's own table FedAvg is first at the two smallest N/d, so only the other five are judged. The reason
    states which method is first at those two; the differences there are separate lines.
    """

    def against(baseline: str) -> Judgement:
        best, others = evidence.paper.best, [baseline, DENSE]
        runs = at_ratios(evidence.runs(TABLE, [METHOD, *others], TABLE), list(best))
        claims = [ratio for ratio, method in best.items() if method == METHOD]
        claimed_rows = runs[runs["ratio"].isin(claims)]
        comparisons = claimed.leads(evidence, claimed_rows, others, {TABLE: "support recovery"}, MARGIN)
        judgement = claimed.judge(comparisons, "N/d and method", "draws", runs)
        elsewhere = [
            claimed.numbers(claimed.better(row, TABLE, DENSE, MARGIN, f"at {ratio:.2f}"))
            for ratio, row in runs[~runs["ratio"].isin(claims)].groupby("ratio")
        ]
        reason = f"Where the paper ranks {evidence.label(DENSE)} first, E-FLoPS minus it is {', '.join(elsewhere)}."
        return claimed.with_words(judgement, reason if elsewhere else "")

    return claimed.under_both_names(evidence, against)


def syn_lr(evidence: Evidence) -> Judgement:
    """For theta rates .05 to .5 at gate rate .85, and for gate rates .1 to .9 at theta rate .25.

    Stable: no rate's R2 is more than .1 below that of the scan's best rate. A diverged run counts as R2 = 0, the
    prediction by the mean of y.
    """
    theta = _scan(evidence, "rates_theta", "set_rate", (0.05, 0.5), ("set_gate_rate", 0.85))
    phi = _scan(evidence, "rates_phi", "set_gate_rate", (0.1, 0.9), ("set_rate", 0.25))
    comparisons = [
        *_drops(theta, "set_rate", "weight learning rate"),
        *_drops(phi, "set_gate_rate", "gate learning rate"),
    ]
    family = f"R2 below the best at each rate, at most {STABLE:g}"
    return claimed.judge(comparisons, family, "draws", pd.concat([theta, phi]).assign(status="finished"))


def _drops(runs: pd.DataFrame, varied: str, name: str) -> list[Comparison]:
    """By how much each rate but the best falls short of the best."""
    means = {float(rate): claimed.per_unit(group, "r2") for rate, group in runs.groupby(varied)}
    best = max(means, key=lambda rate: float(means[rate].mean()))
    return [
        Comparison(
            f"{name} {rate:g}",
            means[best] - each,
            below=STABLE,
            statement=f"test R2 at {name} {rate:g} is {{}} below that at the best rate",
            measure=f"test R2 lost at {name} {rate:g}, against the best rate",
        )
        for rate, each in means.items()
        if rate != best
    ]


def _scan(
    evidence: Evidence, experiment: str, varied: str, span: tuple[float, float], fixed: tuple[str, float]
) -> pd.DataFrame:
    """The runs of E-FLoPS; the rates must cover the paper's range, and the other rate must be the paper's."""
    runs = evidence.runs(experiment, [METHOD], "r2")
    runs = runs[_equal(runs[fixed[0]], fixed[1])]
    rates = runs[varied]
    if runs.empty or not (_equal(rates, span[0]).any() and _equal(rates, span[1]).any()):
        raise Missing(f"{experiment} does not reach from {span[0]} to {span[1]} at the other rate {fixed[1]}.")
    within = runs[rates.between(span[0] - 1e-9, span[1] + 1e-9)]
    lost = within["status"] == "diverged"
    return within.assign(r2=within["r2"].mask(lost, 0.0), status="finished")


def _equal(column: pd.Series, number: float) -> pd.Series:
    return (column - number).abs() < 1e-9
