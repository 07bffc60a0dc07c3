"""Numbers from gathered runs: means and spreads, paired tests, stability, shares, costs."""
