"""How methods are run: batched in one process, or on Flower."""
