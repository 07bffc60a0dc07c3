"""What searches saw: the trials of each, as columns."""

from pathlib import Path
from typing import Any

import pandas as pd

from eflops.explorer.pack import rounded

FOLDER = "search"
SETTING = "set_"


def searches(folder: Path) -> dict[str, dict[str, Any]]:
    """By search its trials, one entry per method and trial in every column; no curves."""
    return {path.stem: trial_columns(pd.read_csv(path)) for path in sorted((folder / FOLDER).glob("*.csv"))}


def trial_columns(trials: pd.DataFrame) -> dict[str, Any]:
    """The columns of a search's trials; settings stand apart from what was found with them."""
    settings = [column for column in trials if column.startswith(SETTING) and trials[column].notna().any()]
    found = [column for column in trials if not column.startswith(SETTING)]
    return {
        **{column: [_short(value) for value in trials[column]] for column in found},
        "settings": {column.removeprefix(SETTING): [_short(value) for value in trials[column]] for column in settings},
    }


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, bool) else rounded(value)
