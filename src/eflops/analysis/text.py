"""The formatting of numbers and Markdown."""

import math
import re
from collections.abc import Iterable, Sequence

from eflops.results.labels import ratio_label

# What a cell of a CSV file holds.
Scalar = str | float | bool | None

MINUS = "\N{MINUS SIGN}"
ABSENT = "\N{EN DASH}"
# For a number that is not defined, such as the p of a test that could not be made.
MISSING = "-"
# What Markdown would take as markup. An underscore inside a word, and a bracket that starts no link, are plain text.
MARKUP = re.compile(r"[\\`*<$]|~(?=~)|(?<=~)~|(?<!\w)_|_(?!\w)|\[(?=[^\]]*\][(\[:])|&(?=#?\w+;)")


def decimals(value: float) -> str:
    """A number of a table: three decimals, or three digits if a fit is far off."""
    return (f"{value:.3f}" if abs(value) < 100 else f"{value:.3g}").replace("-", MINUS)


def with_minus(form: str, *values: float) -> str:
    """The formatted numbers with minus signs instead of hyphens, and a dash for each undefined number."""
    return form.format(*values).replace("-", MINUS).replace("+nan", "-").replace("nan", "-")


def share(value: float) -> str:
    """A share or an index; a dash if there is none."""
    return "-" if math.isnan(value) else f"{value:.2f}"


def short(value: object) -> str:
    """A setting or a key in print: a number with few digits, anything else unchanged."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def exact(value: float) -> str:
    """An N/d in print: all digits, at least two decimals, so different N/d never look equal."""
    return ratio_label(value).removeprefix("nd")


def shortened(name: str, longest: int) -> str:
    """A long name, truncated with an ellipsis."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def formatted(value: float | None) -> str:
    """A number of the scorecard: three decimals; very small and very large ones in scientific notation."""
    if value is None:
        return ABSENT
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3f}"


def signed(value: float | None) -> str:
    """A difference with its sign."""
    if value is None:
        return ABSENT
    rounded = round(value, 3) + 0.0  # no negative zero
    return f"{rounded:+.3f}".replace("-", MINUS)


def readable(value: object) -> str:
    """A value of a record as text: few digits, thousands separated."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def pluralise(number: int, noun: str) -> str:
    """`1 run seed`, `30 run seeds`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def markdown_text(text: str) -> str:
    """Text escaped for Markdown, on one line."""
    return MARKUP.sub(r"\\\g<0>", " ".join(text.splitlines()))


def markdown_table(columns: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    heads, *body = ("| " + " | ".join(str(cell).replace("|", r"\|") for cell in row) + " |" for row in (columns, *rows))
    lines = [heads, "|" + " --- |" * len(columns), *body]
    return "\n".join(lines)
