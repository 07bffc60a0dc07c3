"""Paired tests as a table for people."""

import math

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.table import MINUS, Table

NOTE = (
    "Differences are {reference} minus the other method, with their 95 % interval; n pairs, diverged runs left out and "
    "counted as missing; Holm's adjustment over {family}; d_z is the mean of the differences over their standard "
    "deviation."
)


def comparison_table(tests: pd.DataFrame, by: dict[str, str], source: Source, title: str, pairs: str) -> Table:
    """`tests` as `paired_tests` gives them; `by` names the columns in front and how they are printed."""
    shown = [
        {label: _key(row[column]) for column, label in by.items()} | _shown(row, source) for _, row in tests.iterrows()
    ]
    reference = source.labels.get(tests["reference"].iloc[0], tests["reference"].iloc[0])
    families = " and ".join(f"{family} ({n} tests)" for family, n in tests[["family", "tests"]].value_counts().index)
    return Table(tests, pd.DataFrame(shown), title, f"{NOTE.format(reference=reference, family=families)} {pairs}")


def _shown(row: pd.Series, source: Source) -> dict[str, str]:
    return {
        "against": source.labels.get(row["other"], row["other"]),
        "n": f"{row['n']}" + (f" ({row['missing']} missing)" if row["missing"] else ""),
        "difference [95 % interval]": _signed("{:+.3f} [{:+.3f}, {:+.3f}]", row["difference"], row["low"], row["high"]),
        "t (df)": _signed("{:.2f} ({})", row["t"], row["df"]),
        "p": probability(row["p"]),
        "p (Holm)": probability(row["p_holm"]),
        "d_z": _signed("{:.2f}", row["d_z"]),
        "p (Wilcoxon)": probability(row["p_wilcoxon"]),
    }


def probability(p: float) -> str:
    """Two digits, small ones as a power of ten; a dash where no test could be made."""
    return "-" if math.isnan(p) else f"{p:.2g}"


def _signed(form: str, *values: float) -> str:
    """The numbers with minus signs, not hyphens; a dash for each that is not defined."""
    return form.format(*values).replace("-", MINUS).replace("+nan", "-").replace("nan", "-")


def _key(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
