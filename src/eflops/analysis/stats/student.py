"""Student's t by scipy's special functions: scipy.stats calls them too, and takes half a second to import."""


def t_quantile(level: float, df: float) -> float:
    """The t below which a share of `level` lies."""
    from scipy.special import stdtrit

    return float(stdtrit(df, level))


def t_tail(t: float, df: float) -> float:
    """The share that lies above t."""
    from scipy.special import stdtr

    return float(stdtr(df, -t))
