"""The scorecard: every number and every claim of the paper beside ours, with a verdict by one rule (verdict.py)."""
