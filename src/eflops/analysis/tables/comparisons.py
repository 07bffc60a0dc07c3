"""Paired tests as a table for people."""

from collections.abc import Mapping

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.stats.paired import paired_tests
from eflops.analysis.stats.summary import seeds_and_draws, too_few, unit_means, unit_of
from eflops.analysis.table import Table
from eflops.analysis.text import difference, exact, probability, with_minus

NOTE = (
    "Differences are {reference} minus the other method, with their 95 % interval; n pairs, diverged runs left out and "
    "counted as missing; Holm's adjustment over {family}; d_z is the mean of the differences over their standard "
    "deviation."
)
COLUMNS = ["against", "n", "difference [95 % interval]", "t (df)", "p", "p (Holm)", "d_z", "p (Wilcoxon)"]


def compared(
    source: Source, runs: pd.DataFrame, metric: str, family: str, by: tuple[str, ...] = (), overlap: float = 0.0
) -> pd.DataFrame:
    """The reference method against every other one that ran; no row where it ran alone.

    The unit is the draw, whose seeds are averaged; the run seed where there is one draw alone.
    """
    first, *others = source.from_reference(runs["method"])
    means = unit_means(runs, metric, [*by, "method"])
    return paired_tests(means, metric, first, others, [unit_of(runs)], family, by, overlap=overlap)


def over_ratios(source: Source, metric: str, words: str) -> Table:
    """The tests of a metric at each N/d, paired over draws."""
    (experiment,) = source.experiments
    runs = source.runs(experiment)
    tests = compared(source, runs, metric, f"all comparisons of {words} in this table", ("ratio",))
    shared = "A pair is a data draw, its seeds averaged" if runs["draw"].nunique() > 1 else "A pair is a run seed"
    pairs = f"{shared}: {seeds_and_draws(runs)}."
    return comparison_table(tests, {"ratio": "N/d"}, source, runs, pairs)


def comparison_table(
    tests: pd.DataFrame,
    by: Mapping[str, str],
    source: Source,
    runs: pd.DataFrame,
    pairs: str,
    words: Mapping[str, str] | None = None,
    family: str = "",
) -> Table:
    """A table of tests.

    tests: as `paired_tests` gives them; by: the columns in front and how they are printed; runs: what was compared;
    pairs: what a pair shares, in a sentence; words: what values of those columns are called; family: what the families
    are called together, where there are too many to name each.
    """
    if tests.empty:
        alone = " and ".join(source.labels[name] for name in source.order(runs["method"])) or "nothing"
        return Table(tests, pd.DataFrame(columns=[*by.values(), *COLUMNS]), f"Only {alone} ran: no pair to test.")
    shown = [
        {label: _key(row[column], words or {}) for column, label in by.items()} | _shown(row, source)
        for _, row in tests.iterrows()
    ]
    reference = source.labels[tests["reference"].iloc[0]]
    families = " and ".join(f"{name} ({n} tests)" for name, n in tests[["family", "tests"]].value_counts().index)
    note = NOTE.format(reference=reference, family=family or families)
    return Table(tests, pd.DataFrame(shown), f"{note} {pairs}{too_few(tests['n'])}", runs)


def _shown(row: pd.Series, source: Source) -> dict[str, str]:
    texts = [
        source.labels[row["other"]],
        f"{row['n']}" + (f" ({row['missing']} missing)" if row["missing"] else ""),
        difference(row["difference"], row["low"], row["high"]),
        with_minus("{:.2f} ({})", row["t"], row["df"]),
        probability(row["p"]),
        probability(row["p_holm"]),
        with_minus("{:.2f}", row["d_z"]),
        probability(row["p_wilcoxon"]),
    ]
    return dict(zip(COLUMNS, texts, strict=True))


def _key(value: object, words: Mapping[str, str]) -> str:
    return exact(value) if isinstance(value, float) else words.get(str(value), str(value))
