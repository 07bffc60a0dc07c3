"""The claims on MNIST, paired over draws."""

from dataclasses import replace

import pandas as pd

from eflops.analysis.paper import DENSE, METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Comparison, Judgement, Verdict

SIMILAR, LEARNT = 0.02, 0.5
NEAR, FAR = 3.2, 0.1
TOTAL = ["down_training", "up_training", "down_finetuning", "up_finetuning"]
# What we think is the reason where E-FLoPS sends too much, against hard thresholding and against FedAvg.
TWO_NUMBERS = "E-FLoPS sends two numbers per weight, the weight and its gate"
INDICES = "the indices of kept weights are sent too, which the paper's formula does not count"


def mnist_acc(evidence: Evidence) -> Judgement:
    """Similar: final accuracies at 97.5 % sparsity are at most two points apart.

    Two untrained networks would be similar too, so both must classify more than half of the images correctly.
    """

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline], "accuracy")
        ours, theirs = (claimed.per_unit(runs[runs["method"] == each], "accuracy") for each in (METHOD, baseline))
        lost = int((runs["accuracy"] <= LEARNT).sum())
        because = f"{lost} of the {len(runs)} runs classify fewer than half of the images correctly" if lost else ""
        similar = Comparison(
            "accuracy",
            ours - theirs,
            above=-SIMILAR,
            below=SIMILAR,
            statement=f"E-FLoPS minus {evidence.label(baseline)} is {{}} in test accuracy",
            measure=f"test accuracy, {claimed.difference(evidence.label(baseline))}",
            because=because,
        )
        judgement = claimed.judge([similar], f"E-FLoPS minus the other, within {SIMILAR:g}", "draws", runs)
        means = f"Accuracies {ours.mean():.3f} and {theirs.mean():.3f}."
        if min(ours.mean(), theirs.mean()) > LEARNT:
            return claimed.with_words(judgement, before=means)
        figures = [(each, f"{each.figure}; one of them failed to train") for each in judgement.grounds]
        grounds = tuple(replace(each, verdict=Verdict.DIFFERS, figure=figure) for each, figure in figures)
        judgement = replace(judgement, verdict=Verdict.DIFFERS, grounds=grounds)
        return claimed.with_words(judgement, before=f"{means} One of them failed to train.")

    return claimed.under_both_names(evidence, against)


def mnist_comm(evidence: Evidence) -> Judgement:
    """Bytes actually sent, over both phases, and the bytes of a round after the cut.

    Near Fed-IHT: at most 3.2 times as many (by the paper's formula it is twice as many, without indices). Far below
    FedAvg: at most a tenth.
    """

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline, DENSE], "last_round_training")
        runs = runs.assign(total=runs[TOTAL].sum(axis=1))

        def ratio(column: str, other: str) -> pd.Series:
            ours, theirs = (claimed.per_unit(runs[runs["method"] == each], column) for each in (METHOD, other))
            return ours / theirs

        comparisons = [
            Comparison(
                f"bytes / those of {evidence.label(other)}",
                ratio("total", other),
                below=limit,
                statement=f"E-FLoPS sends {{}} times the bytes of {evidence.label(other)}",
                measure=f"bytes, E-FLoPS / {evidence.label(other)}",
                because=because,
            )
            for other, limit, because in ((baseline, NEAR, TWO_NUMBERS), (DENSE, FAR, INDICES))
        ]
        judgement = claimed.judge(comparisons, f"at most {NEAR:g} and {FAR:g} of the other's bytes", "draws", runs)
        last = [ratio("last_round_training", other).mean() for other in (baseline, DENSE)]
        reason = f"In the last training round it sends {last[0]:.2f} and {last[1]:.3f} of their bytes."
        return claimed.with_words(judgement, reason)

    return claimed.under_both_names(evidence, against)


def mnist_macs(evidence: Evidence) -> Judgement:
    """The share of the dense network's multiply-accumulate operations that the final network saves.

    Contradicted if E-FLoPS clearly removes less than one percentage point more.
    """

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline], "macs")
        runs = runs.assign(removed=1 - runs["macs"] / runs["dense_macs"])
        label, what = evidence.label(baseline), "share of operations removed"
        statement, measure = f"E-FLoPS minus {label} is {{}} in the {what}", f"{what}, {claimed.difference(label)}"
        comparison = claimed.better(runs, "removed", baseline, 0.01, what, statement=statement, measure=measure)
        return claimed.judge([comparison], "operations removed, E-FLoPS minus the other", "draws", runs)

    return claimed.under_both_names(evidence, against)
