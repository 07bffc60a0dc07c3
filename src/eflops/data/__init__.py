"""Data sets: each kind is one module here with a function `build` that returns a `Federation`."""
