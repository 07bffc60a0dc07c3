"""Paired comparisons of a reference method with others: the same seeds (or splits) on both sides.

One row per comparison: differences are reference minus other, so that a positive one favours the reference.

    pairs, missing, n                   planned pairs, those with a diverged run, and those left to compare
    mean_reference, mean_other          means over the n pairs
    difference, low, high               mean difference and its 95 % interval
    t, df, p, p_holm, family, tests     paired t-test, Holm's adjustment over the family, its name and number of tests
    d_z                                 mean difference / standard deviation of the differences
    wilcoxon, p_wilcoxon                signed-rank test of the same differences, not adjusted

Pairs are independent if each is a separate data draw. Splits of the same samples overlap, so their differences vary
less than with new samples: the corrected resampled t-test (Nadeau and Bengio, Machine Learning 52, 2003) has the
variance sd^2 (1/n + test samples / training samples) in place of sd^2 / n.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from eflops.analysis.stats.summary import FEWEST, LEVEL, t_quantile, t_tail, unit_column, with_metric
from eflops.errors import UserError

COLUMNS = [
    *("metric", "reference", "other", "pairs", "missing", "n", "mean_reference", "mean_other", "difference", "low"),
    *("high", "t", "df", "p", "p_holm", "d_z", "wilcoxon", "p_wilcoxon", "family", "tests"),
]


def paired_tests(
    runs: pd.DataFrame,
    metric: str,
    reference: str,
    others: Sequence[str],
    pair_on: Sequence[str],
    family: str,
    by: Sequence[str] = (),
    overlap: float = 0.0,
) -> pd.DataFrame:
    """Compare `reference` with each of `others` in `metric`, within each group of `by` (such as the ratio).

    runs: one row per run, with a column `method`; a missing metric is a run that diverged. pair_on: what a pair
    shares, e.g. ["draw", "seed"]. Every method must have exactly the same pairs. family: the name of this family of
    tests; p_holm is adjusted over all of its rows. overlap: test samples / training samples if pairs are overlapping
    splits.
    """
    runs = with_metric(runs, metric)
    rows = []
    for key, values in _pairs(runs, metric, [reference, *others], list(pair_on), list(by)):
        group = dict(zip(by, key, strict=True))
        for other in others:
            compared = compare(values[reference], values[other], overlap=overlap)
            rows.append({**group, "reference": reference, "other": other, **compared})
    if not rows:
        return pd.DataFrame(columns=[*by, *COLUMNS])
    table = pd.DataFrame(rows)
    table.insert(len(by), "metric", metric)
    table.insert(table.columns.get_loc("p") + 1, "p_holm", holm(table["p"].to_numpy()))
    return table.assign(family=family, tests=len(table))


def compare(reference: pd.Series, other: pd.Series, ranks: bool = True, overlap: float = 0.0) -> dict[str, float]:
    """One comparison of two equally indexed series; pairs with a missing value are left out and counted.

    ranks: whether to run the signed-rank test too, which takes longer than everything else.
    """
    # In pairs: a run that diverged on one side takes its partner out too, so that both means are over the same data.
    both = reference.notna() & other.notna()
    difference = (reference - other)[both].to_numpy(float)
    n = len(difference)
    return {
        "pairs": len(both),
        "missing": len(both) - n,
        "n": n,
        "mean_reference": float(reference[both].mean()),
        "mean_other": float(other[both].mean()),
        **_t_test(difference, overlap),
        **(_signed_rank(difference) if ranks else {}),
    }


def differences_from(
    first: object, runs: pd.DataFrame, metrics: Iterable[str], by: Sequence[str], column: str, unit: str = ""
) -> pd.DataFrame:
    """One row per metric, group of `by` and value of `column` but the first: its difference from the first.

    Pairs share the unit: by default the draw, or the run seed if there is only one draw.
    """
    unit, rows = unit or unit_column(runs), []
    for metric in metrics:
        # Run seeds of a unit share its data, so they are averaged before anything is compared.
        means = with_metric(runs, metric).groupby([*by, column, unit], as_index=False)[metric].mean()
        for key, group in means.groupby(list(by)) if by else [((), means)]:
            # The difference within a unit is free of what the unit does to both sides.
            values = group.pivot(index=unit, columns=column, values=metric)
            for value in values.columns.drop(first) if first in values else []:
                test = compare(values[value], values[first], ranks=False)
                rows.append((metric, *key, value, test["difference"], test["low"], test["high"]))
    return pd.DataFrame(rows, columns=["metric", *by, column, "difference", "low", "high"])


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down adjustment; a test that was not possible (NaN) stays NaN, but counts in the family."""
    # A test with p = 1 in place of one that could not be made leaves the others as they would be beside any other.
    known = np.where(np.isfinite(p), p, 1.0)
    order = np.argsort(known, kind="stable")
    # The i-th smallest p is multiplied by the number of tests not yet rejected; a larger p may not end below a smaller
    # one.
    stepped = np.maximum.accumulate(known[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return np.where(np.isfinite(p), adjusted, np.nan)


def _pairs(
    runs: pd.DataFrame, metric: str, methods: Sequence[str], pair_on: list[str], by: list[str]
) -> Iterator[tuple[tuple[object, ...], pd.DataFrame]]:
    """The pairs of each group of `by`: one row per pair, one column per method.

    Vectorised, because there may be thousands of groups.
    """
    runs, keys = runs[runs["method"].isin(methods)], [*by, *pair_on]
    doubled = runs[runs.duplicated(["method", *keys])]
    if len(doubled):
        method, *pair = doubled.iloc[0][["method", *pair_on]]
        raise UserError(f"{method} has {_name(pair_on, pair)} twice; pair on every column that distinguishes its runs.")
    # A diverged run has a row without a value and is counted as missing; a run without a row was never trained, and
    # leaving its pair out would go unnoticed.
    there = runs.assign(there=True).pivot(index=keys, columns="method", values="there").reindex(columns=methods)
    for method in methods:
        lacking = there.index[there[method].isna()]
        if len(lacking) or there.empty:
            first = f", {_name(keys, np.atleast_1d(lacking[0]))} the first" if len(lacking) else ""
            raise UserError(
                f"{method} lacks {len(lacking)} of {len(there)} pairs{first}; a paired test needs all runs."
            )
    table = runs.pivot(index=keys, columns="method", values=metric)
    yield from table.groupby(level=by, sort=True) if by else [((), table)]


def _name(pair_on: Sequence[str], pair: Iterable[object]) -> str:
    return ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in zip(pair_on, pair, strict=True)
    )


def _t_test(difference: np.ndarray, overlap: float) -> dict[str, float]:
    """The paired t-test; NaN below two pairs, and if all differences are equal, because there is no spread.

    Differences that are all 0 give t = 0, p = 1. There is no interval below three pairs.
    """
    n = len(difference)
    mean = float(difference.mean()) if n else math.nan
    sd = _spread(difference) if n > 1 else math.nan
    # More splits of the same samples make 1/n small but not the overlap: they bring no new samples.
    error = sd * math.sqrt(1 / n + overlap) if n else math.nan
    half = t_quantile((1 + LEVEL) / 2, n - 1) * error if n >= FEWEST else math.nan
    # Without spread and with a mean of 0 there is no evidence: t = 0 and p = 1.
    t = _ratio(mean, error)
    p = 2 * t_tail(abs(t), n - 1)
    return {
        "difference": mean,
        "low": mean - half,
        "high": mean + half,
        "t": t,
        "df": n - 1,
        "p": p,
        # By the observed spread, without the correction: an effect size describes these differences and infers nothing.
        "d_z": _ratio(mean, sd),
    }


def _spread(difference: np.ndarray) -> float:
    """The standard deviation; if the differences are equal up to rounding, NaN, or 0 if they are 0."""
    # Subtracting equal metrics may leave a last bit, and a mean divided by such a spread would be an enormous t.
    equal = float(np.ptp(difference)) <= 1e-12 * max(1.0, float(np.abs(difference).max()))
    if equal:
        return math.nan if difference.any() else 0.0
    return float(difference.std(ddof=1))


def _ratio(value: float, scale: float) -> float:
    return value / scale if scale else 0.0


def _signed_rank(difference: np.ndarray) -> dict[str, float]:
    """Wilcoxon's signed-rank test; pairs with equal values are left out; NaN if no pair remains."""
    if not len(difference):
        return {"wilcoxon": math.nan, "p_wilcoxon": math.nan}
    if not difference.any():
        return {"wilcoxon": 0.0, "p_wilcoxon": 1.0}
    from scipy import stats  # takes half a second to import

    # Rounded so that ties which differ in the last bit alone are ties on every machine.
    result = stats.wilcoxon(difference.round(12))
    return {"wilcoxon": float(result.statistic), "p_wilcoxon": float(result.pvalue)}
