"""The closing summary: what a run found, every number and every word of judgement from its own scorecard and tables."""
