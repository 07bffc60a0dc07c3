"""Table 2 of the paper: the share of runs in which a method selects a gene, number by number and list by list.

A share is held against the interval for as many runs as the paper's at one further split (`stats.shares`). A list is
asked one question: if it were one more of our splits, would it stand out? It does where its mean likeness (Jaccard's
index) to our splits' lists is among the lowest twentieth of each list's likeness to the others; where there are fewer
than 19 splits, where it is the lowest.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from eflops.analysis.paper import Printed
from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.genes import Selected, printed_name, selected, split_lists, whole_list
from eflops.analysis.scorecard.line import Line, Ours, ours, settled
from eflops.analysis.scorecard.verdict import ALPHA, SHARE_LONGEST, Value, Verdict, unjudged
from eflops.analysis.stats.further import further_share
from eflops.errors import UserError

NUMBERS, LISTS = "Table 2", "Table 2, lists"
SEARCHED, NEAREST = "golub_splits", "golub_nearest"


def lines(evidence: Evidence) -> Iterator[Line]:
    """One line per gene and method, in the paper's order."""
    for method, column in evidence.paper.genes.items():
        searched, nearest = (_selected(evidence, name, method) for name in (SEARCHED, NEAREST))
        for place, (gene, printed) in enumerate(column.items(), 1):
            where = (f"table2/{method}/{gene}", NUMBERS, str(place), method, gene)
            if isinstance(searched, str):
                yield Line(*where, unjudged(searched), printed)
                continue
            first = _share(evidence, gene, printed, searched)
            second = None if isinstance(nearest, str) else _share(evidence, gene, printed, nearest)
            yield Line(*where, settled(first, second), printed, (first.value.mean or 0.0) - printed.value)


def lists(evidence: Evidence) -> Iterator[Line]:
    """One line per method: whether the paper's list would stand out among our splits'."""
    for method, column in evidence.paper.genes.items():
        where = (f"table2-list/{method}", LISTS, "list", method, "")
        theirs = [printed_name(gene, evidence.paper.gene_aliases) for gene in column]
        searched, nearest = (_selected(evidence, name, method) for name in (SEARCHED, NEAREST))
        if isinstance(searched, str):
            yield Line(*where, unjudged(searched))
            continue
        first, alike = _listed(searched, theirs)
        second = None if isinstance(nearest, str) else _listed(nearest, theirs)[0]
        yield Line(*where, settled(first, second), Printed(alike), (first.value.mean or 0.0) - alike)


def likeness(lists: Sequence[Sequence[str]]) -> np.ndarray:
    """The mean Jaccard index of each list with all others; two empty lists are alike."""
    sets = [frozenset(names) for names in lists]
    table = np.array([[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets])
    return (table.sum(axis=1) - 1) / (len(sets) - 1)


def _selected(evidence: Evidence, experiment: str, method: str) -> Selected | str:
    """What was selected, or why that is not known."""
    try:
        return selected(evidence, experiment, method)
    except UserError as lack:
        return str(lack)


def _share(evidence: Evidence, gene: str, printed: Printed, found: Selected) -> Ours:
    runs = evidence.paper.sizes["golub"].runs or 1
    like = next(iter(found.values()), np.zeros((2, 1)))
    chosen = found.get(printed_name(gene, evidence.paper.gene_aliases), np.zeros_like(like))
    share = further_share(chosen, runs)
    value = Value(gene, share.mean, share.low, share.high, share.splits, "splits")
    # The paper prints two decimals of what is a whole number of its runs.
    whole = round(printed.value * runs) / runs
    return ours(whole, value, SHARE_LONGEST, f" for {runs} runs at one further split")


def _listed(found: Selected, theirs: Sequence[str]) -> tuple[Ours, float]:
    """The judgement of a list, and its likeness to ours."""
    own = split_lists(found)
    alike = likeness([theirs, *own])
    paper, others = float(alike[0]), alike[1:]
    place = 1 + int((others < paper).sum())
    rank = 1 + int((others <= paper).sum())
    stands_out = rank / len(alike) <= max(ALPHA, 1 / len(alike))
    shared = [gene for gene in whole_list(found) if gene in theirs]
    value = Value(
        "likeness of a split's list", float(others.mean()), float(others.min()), float(others.max()), len(own), "splits"
    )
    told = (
        f"As one more of our {len(own)} splits the paper's list has place {place} of {len(alike)} from the least alike "
        f"(mean Jaccard index with the others {paper:.2f}): it {'stands' if stands_out else 'does not stand'} out. "
        f"Of its {len(theirs)} genes {len(shared)} are among our seven: {'; '.join(shared) or 'none'}"
    )
    return Ours(value, Verdict.DIFFERS if stands_out else Verdict.AGREES, told), paper
