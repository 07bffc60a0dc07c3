"""From a cell and its data to run records: methods, models, engines and the numerics below them."""
