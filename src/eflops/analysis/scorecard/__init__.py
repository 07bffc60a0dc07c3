"""The scorecard: every number and every claim of the paper beside ours, each with a verdict by one rule (verdict.py)."""
