"""The random search's outcome: trials ranked by what a user could see, and the choice written into the config."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from eflops.errors import UserError
from eflops.files import write_json, write_text

# What a diverged run counts for: as bad as a model that has learned nothing, or worse.
WORST = {"r2": -1.0, "accuracy": 0.0, "cross_entropy": 10.0}
LOWER_IS_BETTER = {"cross_entropy"}
SETTING = "set_"


def rank(runs: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Trials by method, best first: the metric's mean over ratios, draws and seeds, diverged runs at their worst."""
    scored = runs.assign(score=runs[metric].where(runs["status"] == "finished", WORST[metric]))
    settings = [column for column in runs if column.startswith(SETTING)]
    grouped = scored.groupby(["method", "variant"], sort=False)
    trials = grouped.agg(
        score=("score", "mean"), runs=("score", "size"), **{name: (name, "first") for name in settings}
    )
    trials["diverged"] = grouped["status"].agg(lambda status: int((status == "diverged").sum()))
    order = trials["score"] if metric in LOWER_IS_BETTER else -trials["score"]
    return (
        trials.assign(order=order).sort_values(["method", "order"], kind="stable").drop(columns="order").reset_index()
    )


def choose(trials: pd.DataFrame, searched: Mapping[str, list[str]]) -> dict[str, dict[str, Any]]:
    """The best trial's searched settings, by method."""
    best = trials.drop_duplicates("method").set_index("method")
    return {method: {key: _plain(best.loc[method, SETTING + key]) for key in keys} for method, keys in searched.items()}


def write(runs: Path, metric: str, searched: Mapping[str, list[str]], out: Path, chosen: Path) -> None:
    """Rank a search's gathered runs; write all trials as CSV and the choice as JSON."""
    trials = rank(pd.read_csv(runs, float_precision="round_trip"), metric)
    write_text(out, trials.to_csv(index=False))
    write_json(chosen, choose(trials, searched))


def adopt(config: Path, dataset: str, chosen: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the choice into the config file, on the line `dataset: {...}` below each method's `per_dataset`."""
    text = config.read_text(encoding="utf-8")
    for method, settings in chosen.items():
        entry = "{" + ", ".join(f"{key}: {_yaml(value)}" for key, value in settings.items()) + "}"
        pattern = rf"(\n  {method}:\n(?:    .*\n)*?    per_dataset:\n(?:      .*\n)*?      {dataset}: ).*\n"
        text, found = re.subn(pattern, rf"\g<1>{entry}\n", text, count=1)
        if not found:
            raise UserError(
                f"{config}: methods.{method}.per_dataset has no line '{dataset}: {{...}}' to put the choice on."
            )
    write_text(config, text)


def _yaml(value: Any) -> str:
    """A setting as YAML reads it back: a number with an exponent needs a point to be one."""
    text = json.dumps(value)
    return text.replace("e", ".0e", 1) if isinstance(value, float) and "e" in text and "." not in text else text


def _plain(value: Any) -> Any:
    """A setting as YAML has it: whole numbers without a point, an empty cell as null."""
    if pd.isna(value):
        return None
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) >= 1 else value
