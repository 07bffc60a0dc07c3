"""The genes of the shipped leukaemia data, for tests that need no torch."""

from functools import cache

import pandas as pd

from eflops.config.load import read
from eflops.data.build import named_features
from eflops.files import PROJECT


@cache
def golub_probes() -> pd.DataFrame:
    """The 3571 probes in the order of the features, with their genes."""
    settings = read(PROJECT / "config.yaml").datasets["golub"].model_dump()
    return named_features(settings).rename(columns={"gene": "probe"})
