"""Table 1 of the paper, cell by cell: support recovery by N/d and method."""

from collections.abc import Iterator

from eflops.analysis.scorecard.evidence import Evidence, value
from eflops.analysis.scorecard.line import Line, Number, compared
from eflops.analysis.scorecard.verdict import RECOVERY_TOLERANCE, against, tolerance

EXPERIMENTS = ("support_recovery", "draws")
SECTION = "Table 1"
METRIC = "support_recovery"


def lines(evidence: Evidence) -> Iterator[Line]:
    """A line a cell."""
    runs, draws = evidence.found("support_recovery"), draw_spread(evidence)
    for ratio, row in evidence.paper.recovery.items():
        here = runs[runs["ratio"].round(2) == ratio] if len(runs) else runs
        groups = {method: here[here["method"] == method] for method in row}
        ours = {
            method: value(method, group, METRIC) for method, group in groups.items() if len(group) and METRIC in group
        }
        printed = {evidence.label(method): cell.value for method, cell in row.items()}
        means = {evidence.label(method): each.mean for method, each in ours.items() if each.mean is not None}
        for method, cell in row.items():
            label = evidence.label(method)
            yield compared(
                Number(
                    id=f"table1/{ratio:.2f}/{method}",
                    section=SECTION,
                    row=f"{ratio:.2f}",
                    column=method,
                    paper=cell,
                    ours=ours.get(method),
                    tolerance=tolerance(cell.sd, RECOVERY_TOLERANCE),
                    obstacle=evidence.obstacle("support_recovery", here, [method], METRIC),
                    contrary=against(label, printed, means) if label in means else "",
                    draw_sd=draws.get((ratio, method)),
                )
            )


def draw_spread(evidence: Evidence) -> dict[tuple[float, str], float]:
    """The standard deviation of support recovery between data draws (means over run seeds), by N/d and method."""
    runs = evidence.found("draws")
    if METRIC not in runs:
        return {}
    means = runs.assign(ratio=runs["ratio"].round(2)).groupby(["ratio", "method", "draw"])[METRIC].mean()
    spread = means.groupby(level=["ratio", "method"]).std().dropna()
    return {(float(ratio), str(method)): float(sd) for (ratio, method), sd in spread.items()}
