"""From numbers to runs, each set of runs and each list of values written once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from eflops.explorer.pack import rounded


@dataclass
class References:
    """What stands behind numbers; `places` is where each record, by its path below the runs, stands on the page.

    A reference is [set of runs, metric, values, formula]: the values' place among `values`, or None where each run
    contributes its own final metric; the metric is empty where no run contributes one number.
    """

    places: Mapping[str, int]
    metrics: Mapping[str, list[float | None]]
    sets: list[list[int]] = field(default_factory=list)
    values: list[list[float | int | None]] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    entries: list[list[Any]] = field(default_factory=list)
    _known: dict[Any, int] = field(default_factory=dict)
    _last: tuple[pd.DataFrame | None, list[Any]] = (None, [])

    def add(self, runs: pd.DataFrame, metric: str, formula: str) -> int | None:
        """The place of a reference to these gathered rows; None where there is no run."""
        if runs.empty:
            return None
        if runs is not self._last[0]:
            # The cells of a row mostly have the same runs behind them.
            self._last = runs, self._behind(runs, metric)
        return self._place(self.entries, [*self._last[1], self._place(self.formulas, formula)])

    def _behind(self, runs: pd.DataFrame, metric: str) -> list[Any]:
        """The set of these runs, the metric and the values that they contribute."""
        paths = (runs["experiment"] + "/" + runs["record"]).tolist()
        members = [self.places[path] for path in paths]
        told = [rounded(value) for value in runs["value"]] if "value" in runs else None
        own = self._own(members, metric)
        return [
            self._place(self.sets, members),
            "" if told is None else metric,
            None if told is None or told == own else self._place(self.values, told),
        ]

    def as_json(self) -> dict[str, Any]:
        """All of them as JSON values."""
        return {"sets": self.sets, "values": self.values, "formulas": self.formulas, "entries": self.entries}

    def _own(self, members: Iterable[int], metric: str) -> list[float | int | None] | None:
        """The runs' own final metric, None where they have none of that name."""
        final = self.metrics.get(metric)
        return [rounded(final[member]) for member in members] if final else None

    def _place(self, where: list[Any], what: Any) -> int:
        """The place of a value in a list, put there if it is new."""
        name = (id(where), repr(what))
        if name not in self._known:
            self._known[name] = len(where)
            where.append(what)
        return self._known[name]
