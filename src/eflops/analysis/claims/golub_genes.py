"""Cystatin C and myeloperoxidase are the genes that E-FLoPS selects most often.

Reproduced: both are among the three that it selects most, since a third gene shares the second place in the paper's
own table. Direction only: both are among the seven.
"""

from eflops.analysis.scorecard.evidence import Evidence
from eflops.analysis.scorecard.genes import probe_shares
from eflops.analysis.scorecard.verdict import Judgement, Value, Verdict

EXPERIMENTS = ("golub_runs",)
TABLES = ("gene_frequency",)
GENES = ("cystatin C", "myeloperoxidase")
MOST, LISTED = 3, 7


def judge(evidence: Evidence) -> Judgement:
    """The places of the two genes by the share of runs that select them, ties to their favour."""
    n = len(evidence.runs("golub_runs", ["eflops"], "accuracy"))
    shares = {gene: probes[0] for gene, probes in probe_shares(evidence, "eflops").items()}
    places = [_place(gene, shares) for gene in GENES]
    values = tuple(Value(gene, shares.get(gene, 0.0), None, n) for gene in GENES)
    told = " and ".join(f"{gene} has place {place}" for gene, place in zip(GENES, places, strict=True))
    first = sorted(shares, key=lambda gene: -shares[gene])[:MOST]
    told = f"Of {len(shares)} genes selected {told}; the first three are {'; '.join(first)}."
    if max(places) <= MOST:
        return Judgement(Verdict.REPRODUCED, values, told)
    return Judgement(Verdict.DIRECTION if max(places) <= LISTED else Verdict.FAILED, values, told)


def _place(gene: str, shares: dict[str, float]) -> int:
    """1 for the most selected gene; a gene that is never selected comes after all that are, and after the list."""
    if not shares.get(gene):
        return max(len(shares), LISTED) + 1
    return 1 + sum(share > shares[gene] for share in shares.values())
