"""Mean, spread and number of runs, and how they are printed."""

from collections.abc import Sequence

import pandas as pd

from eflops.analysis.table import BOLD, MINUS

METRIC_LABELS = {"support_recovery": "Support recovery", "r2": "Test R²"}


def summarise(runs: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """One row a group of `by`: mean and sd over the runs that finished, n of all runs, and how many diverged."""
    grouped = runs.groupby(list(by), as_index=False, sort=True)
    return grouped.agg(
        mean=(metric, "mean"),
        sd=(metric, "std"),
        n=(metric, "size"),
        diverged=("status", lambda status: int((status == "diverged").sum())),
    )


def summarise_all(runs: pd.DataFrame, metrics: Sequence[str], by: Sequence[str]) -> pd.DataFrame:
    """The summaries of several metrics below each other, with a column `metric` behind the groups."""
    parts = [summarise(runs, metric, by).assign(metric=metric) for metric in metrics]
    return pd.concat(parts, ignore_index=True)[[*by, "metric", "mean", "sd", "n", "diverged"]]


def seeds_and_draws(runs: pd.DataFrame) -> str:
    """How many run seeds of which data draws: `30 run seeds of data draw 7`."""
    draws = sorted(runs["draw"].unique())
    return f"{runs['seed'].nunique()} run seeds of data draw{'s' * (len(draws) > 1)} {', '.join(map(str, draws))}"


def spread(mean: float, sd: float, n: int = 2, diverged: int = 0) -> str:
    """`0.612 ± 0.040`, with the number of diverged runs where there are any; a single number has no sd."""
    if diverged and diverged == n:
        return f"all {n:.0f} diverged"
    text = _number(mean) + (f" ± {_number(sd)}" if pd.notna(sd) else "")
    return f"{text} ({diverged:.0f} of {n:.0f} diverged)" if diverged else text


def _number(value: float) -> str:
    """Three decimals, and three digits alone where a fit went far astray."""
    return (f"{value:.3f}" if abs(value) < 100 else f"{value:.3g}").replace("-", MINUS)


def best(cells: pd.DataFrame) -> list[object]:
    """The index entries with the highest mean as printed, ties all of them, among those whose every run finished."""
    sound = cells.loc[cells["diverged"] == 0, "mean"].dropna().round(3)
    return sound.index[sound == sound.max()].tolist()


def bold(text: str, wanted: bool) -> str:
    """The text, bold where wanted."""
    return f"{BOLD}{text}{BOLD}" if wanted else text
