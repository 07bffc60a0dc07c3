"""The consistency of a results folder: every record, data file, table, figure and verdict."""
