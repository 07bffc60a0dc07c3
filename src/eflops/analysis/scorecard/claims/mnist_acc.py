"""E-FLoPS and Fed-IHT have similar test accuracy at 97.5 % sparsity.

Similar: at most two points apart, paired over draws. Two networks that have learnt nothing are similar too, so both
must get more than half of the images right.
"""

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.verdict import Judgement, Verdict

EXPERIMENTS = ("mnist",)
SIMILAR, LEARNT = 0.02, 0.5


def judge(evidence: Evidence) -> Judgement:
    """Final accuracies."""

    def against(baseline: str) -> Judgement:
        runs = evidence.runs("mnist", [METHOD, baseline], "accuracy")
        ours, theirs = (claimed.per_unit(runs[runs["method"] == each], "accuracy") for each in (METHOD, baseline))
        similar = claimed.compared("accuracy", ours - theirs, above=-SIMILAR, below=SIMILAR)
        judged = claimed.judge([similar], f"E-FLoPS minus the other, within {SIMILAR:g}", "draws", runs)
        means = f"Accuracies {ours.mean():.3f} and {theirs.mean():.3f}."
        learnt = min(ours.mean(), theirs.mean()) > LEARNT
        verdict = judged.verdict if learnt else Verdict.DIFFERS
        return Judgement(verdict, judged.values, f"{means}{'' if learnt else ' One learnt nothing.'} {judged.reason}")

    return claimed.under_both_names(evidence, against)
