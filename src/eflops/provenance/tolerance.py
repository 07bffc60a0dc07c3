"""How far a run trained on another kind of machine may be from its record, metric by metric.

On the same kind of machine results have the same bits. Elsewhere sums may be rounded in another order, which training
then carries along: a weight near the edge of the support may change sides, and the metrics move a little with it.
"""

from eflops.record import Result

TOLERANCES = {
    "r2": 0.01,
    "mse": 0.05,
    "support_recovery": 0.041,
    "accuracy": 0.01,
    "cross_entropy": 0.05,
    "auc": 0.01,
}
# For a metric of a method or data set of one's own: a share of its value.
RELATIVE = 0.01


def beyond(before: Result, again: Result) -> str:
    """In words, what differs by more than its tolerance; empty where nothing does."""
    if before.status != again.status:
        return f"it {before.status} then and {again.status} now"
    if set(before.metrics) != set(again.metrics):
        return f"it had the metrics {', '.join(before.metrics)} then and {', '.join(again.metrics)} now"
    told = []
    for name, value in before.metrics.items():
        allowed = TOLERANCES.get(name, RELATIVE * abs(value))
        if abs(again.metrics[name] - value) > allowed:
            told.append(f"{name} was {value:.6g} and is {again.metrics[name]:.6g} (tolerance {allowed:.3g})")
    return "; ".join(told)
