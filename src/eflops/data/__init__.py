"""Data sets: each kind is one module here with a function `build`; what they make is a `Federation`."""
