"""What a model costs: bytes between server and clients, as sent and by the paper's formula, and operations."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eflops import wire
from eflops.analysis.source import Source


def with_costs(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with their bytes, also as shares of what as many dense messages hold, and the share of operations removed.

    The formula's share is taken of the formula's own dense message, which has neither head nor checksum.
    """
    dense = runs["parameters"].map(_dense_message)
    by_formula = runs["parameters"].map(lambda size: wire.paper_bytes("dense", size, size))
    training, tuning = (runs[f"down_{phase}"] + runs[f"up_{phase}"] for phase in ("training", "tuning"))
    messages = runs["messages_training"] + runs["messages_tuning"]
    return runs.assign(
        bytes_training=training,
        bytes_tuning=tuning,
        bytes_total=training + tuning,
        share_training=training / (runs["messages_training"] * dense),
        share_formula=runs["paper_training"] / (runs["messages_training"] * by_formula),
        share_total=(training + tuning) / (messages * dense),
        share_round=runs["last_round_training"] * runs["set_rounds"] / (runs["messages_training"] * dense),
        macs_removed=1 - runs["macs"] / runs["dense_macs"],
    )


def trace(source: Source, experiments: tuple[str, ...], keys: Mapping[str, Any], metric: str) -> pd.DataFrame:
    """The runs of a method, and of a variant where one is named, with the metric as their value."""
    runs = pd.concat([with_costs(source.runs(name)) for name in experiments], ignore_index=True)
    for key in ("experiment", "method", "variant"):
        if key in keys:
            runs = runs[runs[key] == keys[key]]
    return runs.assign(value=runs[metric])


def federated(runs: pd.DataFrame, source: Source) -> pd.DataFrame:
    """The runs of methods that communicate: those that train on pooled data send nothing."""
    return runs[~runs["method"].isin(source.context["pooled"])]


def _dense_message(size: int) -> int:
    return wire.encoded_size(size, size, dense=True)
