"""Whether the order of methods on the data that chose their settings holds on data that chose nothing."""

import pandas as pd
from scipy import stats

HOLDS, IN_PART = 0.5, 0.0


def order_sentence(searched: pd.Series, elsewhere: dict[str, pd.Series], first: str) -> str:
    """One sentence; searched: a method's mean accuracy where settings were chosen; elsewhere: the same by data set.

    Kendall's tau of the two orders is 1 where they are the same, -1 where one is the other reversed, 0 by chance.
    """
    taus = {name: tau(searched, means) for name, means in elsewhere.items()}
    mean = sum(taus.values()) / len(taus)
    verdict = "holds" if mean >= HOLDS else "holds in part" if mean > IN_PART else "does not hold"
    told = ", ".join(f"{value:.2f} on {name}" for name, value in taus.items())
    leads = sum(means.idxmax() == first for means in elsewhere.values())
    return (
        f"On data that chose nothing the order of methods by accuracy {verdict}: Kendall's tau with the order on the "
        f"leukaemia data is {told}; E-FLoPS is first on {leads} of {len(taus)}."
    )


def tau(one: pd.Series, other: pd.Series) -> float:
    """Kendall's tau-b of two series of the methods that both have; 0 where either has no order."""
    both = one.index.intersection(other.index)
    found = float(stats.kendalltau(one.loc[both], other.loc[both]).statistic)
    return 0.0 if pd.isna(found) else found
