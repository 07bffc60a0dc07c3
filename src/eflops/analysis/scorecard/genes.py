"""How often a method selects a gene, read from the table gene_frequency: one row a method and probe."""

import re

from eflops.analysis.scorecard.evidence import Evidence

_SECOND = re.compile(r"^(.*) \(second probe\)$")


def probe_shares(evidence: Evidence, method: str) -> dict[str, list[float]]:
    """The share of runs that select each probe of a gene, the most selected first, by the gene's name."""
    table = evidence.table("gene_frequency")
    rows = table[(table["method"] == method) & (table["frequency"] > 0)].sort_values("frequency", ascending=False)
    return {str(gene): list(group) for gene, group in rows.groupby("gene", sort=False)["frequency"]}


def share_of(printed: str, shares: dict[str, list[float]], aliases: dict[str, str]) -> float:
    """Our share for a gene as the paper prints it: its most selected probe, or the second where it says so.

    The paper lists probes under the names of their genes: interleukin 8 stands twice in one of its columns.
    """
    second = _SECOND.match(printed)
    gene = second.group(1) if second else printed
    probes = shares.get(aliases.get(gene, gene), [])
    place = 1 if second else 0
    return probes[place] if len(probes) > place else 0.0
