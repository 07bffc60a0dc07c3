"""E-FLoPS and Fed-IHT have similar test accuracy at 97.5 % sparsity.

Similar: at most two points apart, paired over draws. Two networks that have learnt nothing are similar too, so both
must get more than half of the images right.
"""

from dataclasses import replace

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Cause, Judgement, Verdict

EXPERIMENTS = ("mnist",)
SHORT = "E-FLoPS and Fed-IHT are equally accurate on MNIST"
SIMILAR, LEARNT = 0.02, 0.5


def judge(evidence: Evidence) -> Judgement:
    """Final accuracies."""

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline], "accuracy")
        ours, theirs = (claimed.per_unit(runs[runs["method"] == each], "accuracy") for each in (METHOD, baseline))
        lost = int((runs["accuracy"] <= LEARNT).sum())
        because = f"{lost} of the {len(runs)} runs get fewer than half of the images right" if lost else ""
        similar = claimed.compared(
            "accuracy", ours - theirs, above=-SIMILAR, below=SIMILAR, told="they differ by {}", because=because
        )
        judged = claimed.judge([similar], f"E-FLoPS minus the other, within {SIMILAR:g}", "draws", runs)
        means = f"Accuracies {ours.mean():.3f} and {theirs.mean():.3f}."
        if min(ours.mean(), theirs.mean()) > LEARNT:
            return claimed.with_words(judged, before=means)
        grounds = tuple(replace(each, verdict=Verdict.DIFFERS, cause=Cause.UNLEARNT) for each in judged.grounds)
        judged = replace(judged, verdict=Verdict.DIFFERS, grounds=grounds)
        return claimed.with_words(judged, before=f"{means} One learnt nothing.")

    return claimed.under_both_names(evidence, against)
