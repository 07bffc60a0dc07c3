"""How numbers, spreads and Markdown tables are written, wherever people read them."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from eflops.results.labels import ratio_label

BOLD = "**"
MINUS = "\N{MINUS SIGN}"
ABSENT = "\N{EN DASH}"


def decimals(value: float) -> str:
    """A number of a table: three decimals, and three digits alone where a fit went far astray."""
    return (f"{value:.3f}" if abs(value) < 100 else f"{value:.3g}").replace("-", MINUS)


def spread(mean: float, sd: float, n: int = 2, diverged: int = 0) -> str:
    """`0.612 ± 0.040`, with the number of diverged runs where there are any; a single number has no sd."""
    return _with_diverged(mean, f" ± {decimals(sd)}" if pd.notna(sd) else "", n, diverged)


def interval(mean: float, lower: float, upper: float, n: int = 2, diverged: int = 0) -> str:
    """`0.903 [0.895, 0.911]`, with the number of diverged runs where there are any; a single number has no interval."""
    return _with_diverged(mean, f" [{decimals(lower)}, {decimals(upper)}]" if pd.notna(lower) else "", n, diverged)


def _with_diverged(mean: float, beside: str, n: int, diverged: int) -> str:
    if diverged and diverged == n:
        return f"all {n:.0f} diverged"
    if pd.isna(mean):
        return ABSENT
    return decimals(mean) + beside + (f" ({diverged:.0f} of {n:.0f} diverged)" if diverged else "")


def difference(mean: float, lower: float, upper: float) -> str:
    """`+0.012 [+0.003, +0.021]`; without an interval where there is none, a dash where there is no difference."""
    if pd.isna(lower):
        return with_minus("{:+.3f}", mean)
    return with_minus("{:+.3f} [{:+.3f}, {:+.3f}]", mean, lower, upper)


def bold(text: str, wanted: bool) -> str:
    """The text, bold where wanted."""
    return f"{BOLD}{text}{BOLD}" if wanted else text


def probability(p: float) -> str:
    """Two digits, small ones as a power of ten; a dash where no test could be made."""
    return "-" if math.isnan(p) else f"{p:.2g}"


def with_minus(form: str, *values: float) -> str:
    """The numbers in their form with minus signs, not hyphens; a dash for each that is not defined."""
    return form.format(*values).replace("-", MINUS).replace("+nan", "-").replace("nan", "-")


def share(value: float, form: str = "{:.2f}") -> str:
    """A share or an index; a dash where there is none."""
    return "-" if math.isnan(value) else form.format(value)


def short(value: object) -> str:
    """A setting or a key in print: few digits of a number, anything else as it is."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def exact(value: float) -> str:
    """An N/d in print: all its digits, two decimals at least; two that differ are never written alike."""
    return ratio_label(value).removeprefix("nd")


def shortened(name: str, longest: int) -> str:
    """A long name cut, with dots for the rest."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def judged(value: float | None) -> str:
    """A number of the scorecard: three decimals; very small and very large ones in a form that keeps their digits."""
    if value is None:
        return ABSENT
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}"


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign."""
    if value is None:
        return ABSENT
    rounded = round(value, digits) + 0.0  # no negative zero
    return f"{rounded:+.{digits}f}".replace("-", MINUS)


def number(value: Any) -> str:
    """Anything that a record holds, as people write it: few digits, thousands apart."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def counted(number: int, noun: str) -> str:
    """`1 run seed`, `30 run seeds`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def markdown_table(columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(map(str, columns)) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(str(cell).replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
