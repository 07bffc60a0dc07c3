"""Functions that make tables, as config/products.yaml names them."""
