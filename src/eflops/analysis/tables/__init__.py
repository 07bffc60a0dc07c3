"""One module a table, found by its name in the catalogue."""
