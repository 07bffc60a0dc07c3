"""The genes of the Golub leukaemia data by name."""

from functools import cache

import pandas as pd

from eflops.config.load import read
from eflops.data import expression
from eflops.files import PROJECT


@cache
def genes() -> pd.DataFrame:
    """The 3571 genes in the order of the features: probe, symbol, name, description, label."""
    entry = read(PROJECT / "config.yaml").datasets["golub"]
    return expression.features(entry.model_dump()).rename(columns={"gene": "probe"})
