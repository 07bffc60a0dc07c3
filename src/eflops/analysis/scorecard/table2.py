"""Table 2 of the paper, cell by cell: the share of runs in which a method selects a gene."""

from collections.abc import Iterator

from eflops.analysis.paper import share_sd
from eflops.analysis.scorecard.evidence import Evidence, Missing
from eflops.analysis.scorecard.genes import probe_shares, share_of
from eflops.analysis.scorecard.line import Line, Number, compared
from eflops.analysis.scorecard.verdict import SHARE_TOLERANCE, Value, against, tolerance

EXPERIMENTS = ("golub_runs",)
TABLES = ("gene_frequency",)
SECTION = "Table 2"


def lines(evidence: Evidence) -> Iterator[Line]:
    """A line a gene and method, in the paper's order."""
    paper = evidence.paper
    runs = evidence.found("golub_runs")
    shares, missing = _shares(evidence, set(runs["method"]))
    for method, column in paper.genes.items():
        n = int((runs["method"] == method).sum())
        obstacle = evidence.obstacle("golub_runs", runs, [method], "accuracy") or missing
        for place, (gene, printed) in enumerate(column.items(), 1):
            row = {evidence.label(name): genes[gene].value for name, genes in paper.genes.items() if gene in genes}
            ours = {evidence.label(name): share_of(gene, probes, paper.gene_aliases) for name, probes in shares.items()}
            share = ours.get(evidence.label(method))
            yield compared(
                Number(
                    id=f"table2/{method}/{gene}",
                    section=SECTION,
                    row=str(place),
                    column=method,
                    text=gene,
                    paper=printed,
                    ours=None if share is None else Value(gene, share, share_sd(share, n), n),
                    tolerance=tolerance(printed.sd, SHARE_TOLERANCE),
                    obstacle=obstacle,
                    contrary="" if share is None else against(evidence.label(method), row, ours),
                )
            )


def _shares(evidence: Evidence, methods: set[str]) -> tuple[dict[str, dict[str, list[float]]], str]:
    """Our shares by method, gene and probe; or why there are none."""
    try:
        return {method: probe_shares(evidence, method) for method in evidence.paper.genes if method in methods}, ""
    except Missing as lack:
        return {}, str(lack)
