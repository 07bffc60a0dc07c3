"""The settings of a data draw as stored in a job's spec and in a manifest, for modules that do not read the config."""

from typing import Literal, TypedDict


class DataSettings(TypedDict, total=False):
    """An entry of `datasets` as JSON values, without the keys on how the data are used; `config.models` explains each
    key.

    The keys depend on `kind`.
    """

    kind: str
    clients: int
    count_concentration: float | None
    min_rows: int
    density: float
    test_rows: int
    # synthetic
    features: int
    correlation: float
    snr: float
    shift_scale: float
    shift_offset: float
    # expression and table
    matrix: str
    labels: str
    rows: Literal["samples", "genes"]
    clients_by: str | None
    classes: list[str]
    gene_names: list[str]
    scaling: str
    log: bool
    floor: float | None
    ceiling: float | None
    # mnist
    source: str
    ratio_per_class: float
    label_concentration: float
    standardise: bool
    # of a stored draw, and of one whose nodes bring rows of their own
    ratio: str
    draw: int
    genes: list[str]
    class_names: list[str]
