"""The scorecard: every number and claim of the paper compared with ours, with a verdict by one rule (verdict.py)."""
