"""The closing summary: the findings of a run, with every number and judgement taken from its scorecard and tables."""
