"""The paired t-test of E-FLoPS against Fed-IHT in test accuracy, over the run seeds of one split: one number, t.

The test is the paper's: 30 seeds of one split. Other splits give other t, so the paper's t is compared with the
interval for one more split. With the differences d of paired accuracies at each of our splits, in units of their
standard deviation within splits, t of 30 seeds at a split is sqrt(30) times the split's mean of d; its seeds add a
variance of 1 + t^2 / (2 df).
"""

import math
from collections.abc import Iterator

import numpy as np

from eflops.analysis.paper import HARD_THRESHOLDING, METHOD, PAIR, Printed, t_sd
from eflops.analysis.scorecard.evidence import Evidence, Missing, by_unit
from eflops.analysis.scorecard.line import Estimate, Line, combine_verdicts
from eflops.analysis.scorecard.verdict import Value, Verdict, judge_number, unjudged
from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.prediction import Noise, prediction_intervals, within
from eflops.errors import UserError

RUNS, SEARCHED, NEAREST = "golub_runs", "golub_splits", "golub_nearest"
BASELINE = HARD_THRESHOLDING[0]


def lines(evidence: Evidence) -> Iterator[Line]:
    """One line: t, with its p in words."""
    paper, identity = evidence.paper.t, ("golub-test/t", "t", PAIR, "")
    try:
        searched = _held(evidence, SEARCHED, paper, f"{_tested(evidence)} ")
    except UserError as lack:
        yield Line(*identity, unjudged(str(lack)), paper)
        return
    try:
        nearest = _held(evidence, NEAREST, paper, "")
    except UserError:
        nearest = None
    mean = searched.value.mean
    yield Line(*identity, combine_verdicts(searched, nearest), paper, None if mean is None else mean - paper.value)


def _tested(evidence: Evidence) -> str:
    """The test over the paper's number of seeds at our split, in words, for both possible algorithms."""
    reason, sizes = [], []
    for other in HARD_THRESHOLDING:
        try:
            runs = evidence.runs(RUNS, [METHOD, other], "accuracy", draws=1, seeds=_seeds(evidence))
        except UserError:
            if other == BASELINE:
                raise
            continue
        test = paired_tests(runs, "accuracy", METHOD, [other], ["draw", "seed"], RUNS).iloc[0]
        sizes.append(float(test["t"]))
        reason.append(f"t({test['df']}) = {test['t']:.2f}, p {test['p']:.2g} against {evidence.label(other)}")
    if not math.isfinite(sizes[0]):
        raise Missing("All differences over the seeds of the split are equal, so t is not defined.")
    paper = evidence.paper
    theirs = f"The paper has t({_seeds(evidence) - 1}) = {paper.t.value:.2f}, p {paper.p.value:.2g}"
    return f"{theirs}; at our split {'; '.join(reason)}."


def _held(evidence: Evidence, experiment: str, paper: Printed, reason: str) -> Estimate:
    """The paper's t compared with the interval for one more split."""
    runs = evidence.runs(experiment, [METHOD, BASELINE], "accuracy", seeds=2)
    seeds = _seeds(evidence)
    ours, theirs = (by_unit(runs[runs["method"] == method], "accuracy") for method in (METHOD, BASELINE))
    spread, df = within(ours - theirs)
    if not spread:
        raise Missing(f"The seeds of {experiment} do not differ, so t is not defined.")
    scaled = (ours - theirs) * math.sqrt(seeds / spread)
    noise = Noise((t_sd(paper.value, seeds) or 1.0) ** 2, min(df, seeds - 1))
    (interval,) = prediction_intervals(scaled[:, :, np.newaxis], [noise])
    value = Value.of("t at a split", interval, "splits")
    verdict = judge_number(paper.value, value, math.inf)
    if verdict == Verdict.AGREES and (value.low or 0.0) <= 0:
        verdict = Verdict.INCONCLUSIVE
    at_splits = np.sort(np.nanmean(scaled, axis=1))
    quarters = np.quantile(at_splits, [0.25, 0.75])
    varies = f"t ranges from {at_splits[0]:.1f} to {at_splits[-1]:.1f}, half of it "
    varies += f"{quarters[0]:.1f} to {quarters[1]:.1f}"
    side = "outside" if verdict == Verdict.DIFFERS else "inside"
    words = f"{reason}Over our {interval.units} splits {varies}; for one more split it would be "
    words += f"{value.low:.1f} to {value.high:.1f}: the paper's is {side}"
    return Estimate(value, verdict, words)


def _seeds(evidence: Evidence) -> int:
    return evidence.paper.sizes["golub"].runs or 2
