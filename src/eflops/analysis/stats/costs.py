"""The cost of a model: bytes between server and clients, as sent and by the paper's formula, and operations."""

import pandas as pd

from eflops.training.numerics import wire


def with_costs(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with their bytes, also as a share of the bytes of as many dense messages, and with the share of operations
    removed.

    The formula's share refers to the formula's dense message, which has no header and no checksum.
    """
    dense = runs["parameters"].map(lambda size: wire.encoded_size(size, size, dense=True))
    # Shares are of the same measure above and below: real bytes by a real dense message, the formula's by the
    # formula's.
    by_formula = runs["parameters"].map(wire.paper_bytes)
    training, finetuning = (runs[f"down_{phase}"] + runs[f"up_{phase}"] for phase in ("training", "finetuning"))
    messages = runs["messages_training"] + runs["messages_finetuning"]
    return runs.assign(
        bytes_training=training,
        bytes_finetuning=finetuning,
        bytes_total=training + finetuning,
        share_training=training / (runs["messages_training"] * dense),
        share_formula=runs["paper_training"] / (runs["messages_training"] * by_formula),
        share_total=(training + finetuning) / (messages * dense),
        share_round=runs["last_round_training"] * runs["set_rounds"] / (runs["messages_training"] * dense),
        macs_removed=1 - runs["macs"] / runs["dense_macs"],
    )
