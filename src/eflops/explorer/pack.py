"""Values as the page carries them: JSON, deflated, in letters that HTML can hold."""

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from eflops.files import canonical_json

# What a screen shows, and what `eflops explain` prints.
DIGITS = 4


def packed(value: Any) -> str:
    """A JSON value deflated, in base64; the page inflates it with the browser's own DecompressionStream."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def coded(values: Iterable[Any]) -> dict[str, list[Any]]:
    """A column as its distinct values, `of`, and for each entry its place among them, `at`."""
    places: dict[str, int] = {}
    distinct: list[Any] = []
    at: list[int] = []
    for value in values:
        name = canonical_json(value)
        if name not in places:
            places[name] = len(distinct)
            distinct.append(value)
        at.append(places[name])
    return {"of": distinct, "at": at}


def rounded(value: float | None, digits: int = DIGITS) -> float | int | None:
    """A number with few significant digits; whole numbers without a point, which takes fewer letters."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def steps(numbers: Sequence[int]) -> list[int]:
    """Ascending whole numbers as the first and the steps between them, which repeat and so pack well."""
    return [number - before for before, number in zip([0, *numbers], numbers, strict=False)]
