"""Cystatin C and myeloperoxidase are the genes that E-FLoPS selects most often, over splits.

A third gene shares the second place in the paper's own table, so it holds where both are among the three that are
selected most: where each is selected more often than all other genes but one. The share of runs is compared split by
split. Which genes these patients' splits lead to is no question about other patients, so the t-test is not corrected.
"""

import numpy as np
import pandas as pd

from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard import claimed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.genes import selected, whole_list
from eflops.analysis.scorecard.verdict import Judgement

EXPERIMENTS = ("golub_splits",)
SHORT = "E-FLoPS selects cystatin C and myeloperoxidase most often"
GENES = ("cystatin C", "myeloperoxidase")


def judge(evidence: Evidence) -> Judgement:
    """Each of the two against the second of the other genes."""
    runs = evidence.runs("golub_splits", [METHOD], "accuracy")
    found = selected(evidence, "golub_splits", METHOD)
    splits = runs["draw"].nunique()
    shares = {gene: each.mean(axis=1) for gene, each in found.items()}
    others = [gene for gene in found if gene not in GENES]
    none = np.zeros(splits)
    second = shares[others[1]] if len(others) > 1 else none
    units = [f"split {split}" for split in range(splits)]
    name = others[1] if len(others) > 1 else "none"
    comparisons = [
        claimed.compared(
            gene,
            pd.Series(shares.get(gene, none) - second, index=units),
            above=0.0,
            told=f"{gene} leads {name} by {{}} of the runs",
        )
        for gene in GENES
    ]
    judged = claimed.judge(comparisons, f"share of runs minus that of {name}", "splits", runs)
    first = "; ".join(f"{gene} {shares[gene].mean():.2f}" for gene in whole_list(found))
    return claimed.with_words(judged, f"Selected most: {first}.")
