"""One module a figure or panel, found by its name in the catalogue."""
