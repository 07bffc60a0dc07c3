"""The claims on the leukaemia data, over run seeds of one split and over splits."""

import numpy as np
import pandas as pd

from eflops.analysis.paper import DENSE, METHOD, OVERLAP
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.table2 import selected, whole_list
from eflops.analysis.scorecard.verdict import Comparison, Judgement
from eflops.analysis.text import MINUS

MARGIN = 0.01
GENES = ("cystatin C", "myeloperoxidase")


def golub_run(evidence: Evidence) -> Judgement:
    """Final test accuracy over 30 run seeds at one split; contradicted if it is clearly less than .01 ahead.

    Only this claim has the run seed as its unit, as in the paper, so it says nothing about other splits. AUC is
    reported in addition. The size of t is judged as a separate number.
    """
    seeds = evidence.paper.sizes["golub"].runs or 2
    return _more_accurate(evidence, "golub_runs", "seed", "seed", draws=1, seeds=seeds)


def golub_split(evidence: Evidence) -> Judgement:
    """`golub_run` over splits, with the seeds of a split averaged.

    Splits of 72 patients overlap, so the test is the corrected resampled one (15 test samples for 57 of training).
    """
    return _more_accurate(evidence, "golub_splits", "split", "draw", draws=2, seeds=1, overlap=OVERLAP)


def golub_genes(evidence: Evidence) -> Judgement:
    """Each is selected more often, split by split, than all other genes but one.

    A third gene shares second place in the paper's table, so the claim holds if both genes are among the three
    selected most. The claim is about these patients only, so the t-test is not corrected for overlapping splits.
    """
    runs = evidence.runs("golub_splits", [METHOD], "accuracy")
    selection = selected(evidence, "golub_splits", METHOD)
    splits = runs["draw"].nunique()
    shares = {gene: each.mean(axis=1) for gene, each in selection.items()}
    others, none = [gene for gene in selection if gene not in GENES], np.zeros(splits)
    name, second = (others[1], shares[others[1]]) if len(others) > 1 else ("none", none)
    comparisons = [
        Comparison(
            gene,
            pd.Series(shares.get(gene, none) - second, index=[f"split {split}" for split in range(splits)]),
            above=0.0,
            statement=f"the share of runs that select {gene}, minus that of {name}, is {{}}",
            measure=f"share of runs that select it, {gene} {MINUS} {name}",
        )
        for gene in GENES
    ]
    judgement = claimed.judge(comparisons, f"share of runs minus that of {name}", "splits", runs)
    first = "; ".join(f"{gene} {shares[gene].mean():.2f}" for gene in whole_list(selection))
    return claimed.with_words(judgement, f"Selected most: {first}.")


def _more_accurate(
    evidence: Evidence, experiment: str, unit: str, of: str, draws: int, seeds: int, overlap: float = 0.0
) -> Judgement:
    """Accuracy compared with both other methods over units; the column `of` identifies units."""

    def against(baseline: str) -> Judgement:
        others = [baseline, DENSE]
        runs = evidence.runs(experiment, [METHOD, *others], "accuracy", draws, seeds)

        def leads(metric: str) -> list[Comparison]:
            return [
                claimed.better(
                    runs,
                    metric,
                    other,
                    MARGIN,
                    name,
                    unit,
                    of,
                    overlap,
                    f"E-FLoPS minus {name} is {{}} in test {metric}",
                    f"test {metric}, {claimed.difference(name)}",
                )
                for other in others
                for name in [evidence.label(other)]
            ]

        judgement = claimed.judge(leads("accuracy"), "accuracy against each method", f"{unit}s", runs)
        auc = ", ".join(map(claimed.numbers, leads("auc"))) if "auc" in runs else ""
        return claimed.with_words(judgement, f"AUC: {auc}." if auc else "")

    return claimed.under_both_names(evidence, against)
