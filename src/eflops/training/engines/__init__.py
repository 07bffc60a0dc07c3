"""Engines: batched in one process, reference, or on Flower."""
