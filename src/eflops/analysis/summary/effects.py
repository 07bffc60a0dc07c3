"""What the summary says beyond the verdicts: entropy, the paper's settings, sparse messages, other data."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from scipy import stats

from eflops.analysis.needs import (
    BEYOND,
    BYTES,
    ENTROPY_GRID,
    ENTROPY_TRIALS,
    RECOVERY,
    REGIMES,
    SCALING,
    SEARCHED,
)
from eflops.analysis.paper import METHOD
from eflops.analysis.scorecard.verdict import ALPHA, Verdict
from eflops.analysis.source import Source
from eflops.analysis.summary.verdicts import ALL_LINES, Card, Point
from eflops.analysis.text import signed

# A nearest setting this many times the searched one, or such a fraction of it, is told.
FAR = 10
# A mean of Kendall's tau from which the order of methods holds.
HOLDS = 0.5
ALL_SETTINGS = "all"
LEADING = 5
INTENSITY, SPLITS = "golub_runs", "golub_splits"
# Where the explorer shows what has no table of its own among those that are read here.
SEARCHED_TESTS = "tables/support_recovery_tests.csv"
PRIORS = {"Table 1": "figures/fig_prior", "Table 2": "figures/fig_prior_golub"}
SPARSE = {"sparse_both": "sparse both ways", "sparse_server": "sparse from the server only"}


def entropy(card: Card, source: Source) -> Iterator[Point]:
    """What T changes: at searched settings over draws, over all settings of the search, and alone."""
    found = card["facts"]["entropy"]
    if found:
        told = [_change(f"{each['metric']} {{}}", each["mean"], each["low"], each["high"]) for each in found]
        words = "With entropy, at searched settings, which differ in more than T"
        yield f"{words}, {'; '.join(told)}, over {found[0]['draws']} draws.", _place(SEARCHED_TESTS)
    trials = source.table(ENTROPY_TRIALS)
    if trials is not None:
        yield from _over_trials(trials[trials["metric"] == "r2"])
    grid = _metric(source.table(ENTROPY_GRID), "support_recovery")
    if grid is not None and "gain" in grid:
        yield from _alone(grid.dropna(subset=["gain", "gain_low"]))


def _over_trials(cells: pd.DataFrame) -> Iterator[Point]:
    """Over all settings of the search, paired by setting, and by the size of T where that shows a change."""
    for row in cells[cells["by"] == ALL_SETTINGS].itertuples():
        change = _change("test R2 {} with entropy", row.mean, row.mean_low, row.mean_high)
        told = (
            f"Over all {row.settings} settings of the search, paired by setting, {change}. It is higher in {row.helps} "
            f"and lower in {row.hurts} settings."
        )
        yield told, _place(ENTROPY_TRIALS)
    by_t = cells[cells["by"] == "T"]
    clear = by_t[(by_t["mean_low"] > 0) | (by_t["mean_high"] < 0)]
    for row in clear.itertuples():
        yield (
            f"For {row.group}, {_change('test R2 {}', row.mean, row.mean_low, row.mean_high)}.",
            _place(ENTROPY_TRIALS),
        )
    if len(by_t) and clear.empty:
        yield "No size of T changes test R2 clearly.", _place(ENTROPY_TRIALS)


def _alone(gains: pd.DataFrame) -> Iterator[Point]:
    """Where T alone varies, at fast and slow gates."""
    if gains.empty:
        return
    better, worse = int((gains["gain_low"] > 0).sum()), int((gains["gain_high"] < 0).sum())
    best = gains.loc[gains["gain"].idxmax()]
    told = (
        f"Where T alone varies, support recovery is clearly higher than at T = 0 in {better} and clearly lower in "
        f"{worse} of {len(gains)} cells; by chance {len(gains) * ALPHA:.1f} would be either. The highest gain is "
        f"{_interval(best['gain'], best['gain_low'], best['gain_high'])}, at T = {best['set_temperature']:g}, gate "
        f"rate {best['set_gate_rate']:g} and N/d {best['ratio']:g}."
    )
    yield told, _place(ENTROPY_GRID)


def settings(card: Card, source: Source) -> Iterator[Point]:
    """What the paper's numbers reveal about its settings, and what those that it leaves open decide."""
    yield from _nearest(card)
    rules = _metric(source.table(RECOVERY), "support_recovery")
    if rules is not None:
        yield from _printed_rule(rules.set_index("set_gate_recovery"))
    shares = source.table(SCALING)
    if shares is not None:
        yield from _scalings(shares[shares["method"] == METHOD])


def _nearest(card: Card) -> Iterator[Point]:
    """Columns that come out only at settings far from the searched ones."""
    found = card["facts"]["nearest"]
    if not found:
        return
    agreed = sum(line["verdict"] == Verdict.NEAREST for line in card["lines"])
    come = "comes" if agreed == 1 else "come"
    told = f"{agreed} of the paper's numbers {come} out only at the nearest settings, not at those that a search chose."
    yield told, ALL_LINES
    far = [each for each in found if not 1 / FAR < each["nearest"] / each["searched"] < FAR]
    for each in far:
        label = card["labels"].get(each["method"], each["method"])
        told = (
            f"{each['table']}'s column of {label} is nearest at a weights' rate of {each['nearest']:.2g}, where the "
            f"search chose {each['searched']:.2g}: more than {FAR} times apart."
        )
        yield told, PRIORS[each["table"]]
    if not far:
        yield f"No column needs a weights' rate more than {FAR} times off the searched one.", ALL_LINES


def _printed_rule(rules: pd.DataFrame) -> Iterator[Point]:
    """What the paper's way back from mean gates to their parameters costs."""
    if pd.isna(rules.loc["paper", "mean"]):
        yield "With the gate parameters recovered from mean gates as printed, every run diverges.", _place(RECOVERY)
        return
    row = rules.loc["exact"] if "gain" in rules else None
    if row is not None and pd.notna(row["gain"]):
        words = "With gate parameters recovered from mean gates exactly, not by the printed rule, support recovery {}"
        yield f"{_change(words, row['gain'], row['gain_low'], row['gain_high'])}.", _place(RECOVERY)


def _scalings(shares: pd.DataFrame) -> Iterator[Point]:
    """How many of the leading genes stay under each other scaling of the leukaemia data."""
    first = set(_leading(shares, INTENSITY))
    others = shares[shares["experiment"] != INTENSITY].drop_duplicates("experiment")
    stay = [f"{len(first & set(_leading(shares, row.experiment)))} on {row.scaling}" for row in others.itertuples()]
    if stay:
        told = (
            f"The paper does not state how the leukaemia data are scaled. Of the {len(first)} genes that E-FLoPS "
            f"selects most on intensities as a whole, these stay: {'; '.join(stay)}."
        )
        yield told, _place(SCALING)


def sparse_messages(_: Card, source: Source) -> Iterator[Point]:
    """What sparse communication throughout costs E-FLoPS, searched for itself; messages as sent and by the formula."""
    cells = source.table(REGIMES)
    own = pd.DataFrame() if cells is None else cells[cells["method"] == METHOD].set_index(["experiment", "metric"])
    for experiment, words in SPARSE.items():
        if (experiment, "support_recovery") not in own.index:
            continue
        sent = own.loc[[(experiment, "share_training")], "mean"].mean()
        rows = own.loc[[(experiment, "support_recovery")]].itertuples()
        changes = [_change(f"at N/d {row.ratio:g}", row.difference, row.low, row.high) for row in rows]
        told = (
            f"With messages {words} from the first round ({sent:.0%} of dense bytes), support recovery of E-FLoPS "
            f"changes {'; '.join(changes)}."
        )
        yield told, _place(REGIMES)
    sent = source.table(BYTES)
    if sent is not None:
        means = sent[sent["method"] == METHOD].set_index("metric")["mean"]
        told = (
            f"On MNIST, messages of E-FLoPS as sent, indices included, take {means['share_training']:.1%} of dense "
            f"training's bytes; the paper's formula counts {means['share_formula']:.1%}."
        )
        yield told, _place(BYTES)


def beyond(_: Card, source: Source) -> Iterator[Point]:
    """Whether the order of the federated methods over splits of the leukaemia data holds on data that chose nothing."""
    cells, searched = source.table(BEYOND), _metric(source.table(SEARCHED), "accuracy")
    if cells is None or searched is None:
        return
    means = searched[searched["experiment"] == SPLITS].set_index("method")["mean"]
    by_data = cells[cells["federated"]].groupby("data", sort=False)
    elsewhere = {str(name): own.set_index("method")["accuracy_mean"] for name, own in by_data}
    taus = {name: tau(means, own) for name, own in elsewhere.items()}
    mean = sum(taus.values()) / len(taus)
    verdict = "holds" if mean >= HOLDS else "holds in part" if mean > 0 else "does not hold"
    told = (
        f"The order of methods by accuracy on the leukaemia data {verdict} elsewhere. Kendall's tau of the two orders "
        f"(1: the same, 0: as by chance) is {'; '.join(f'{value:.2f} on {name}' for name, value in taus.items())}."
    )
    yield told, _place(BEYOND)
    leads = sum(own.idxmax() == METHOD for own in elsewhere.values())
    yield f"E-FLoPS is first on {leads} of {len(taus)} of these data sets.", _place(BEYOND)


def tau(one: pd.Series, other: pd.Series) -> float:
    """Kendall's tau-b of two series of the methods that both have; 0 where either has no order."""
    both = one.index.intersection(other.index)
    found = float(stats.kendalltau(one.loc[both], other.loc[both]).statistic)
    return 0.0 if pd.isna(found) else found


def _place(path: str) -> str:
    """A table or figure on the explorer's page, named by its CSV file."""
    return path.removesuffix(".csv")


def _change(sentence: str, mean: float, low: float, high: float) -> str:
    """A sentence with braces for its verb, and the difference with its interval; without an interval none is clear."""
    verb = "rises" if low > 0 else "falls" if high < 0 else "does not clearly change"
    return f"{sentence.format(verb)}: {signed(mean) if pd.isna(low) else _interval(mean, low, high)}"


def _interval(mean: float, low: float, high: float) -> str:
    return f"{signed(mean)} ({signed(low)} to {signed(high)})"


def _metric(cells: pd.DataFrame | None, metric: str) -> pd.DataFrame | None:
    return None if cells is None else cells[cells["metric"] == metric]


def _leading(shares: pd.DataFrame, experiment: str) -> list[Any]:
    """The genes that are selected most in an experiment."""
    own = shares[(shares["experiment"] == experiment) & (shares["frequency"] > 0)]
    return list(own.sort_values(["frequency", "gene"], ascending=[False, True])["gene"].head(LEADING))
