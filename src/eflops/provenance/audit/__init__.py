"""Whether a results folder holds together: every record, data file, table, figure and verdict."""
