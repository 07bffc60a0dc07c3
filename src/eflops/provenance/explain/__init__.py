"""Trace a cell of a table, a point of a figure or a line of the scorecard to its runs."""
