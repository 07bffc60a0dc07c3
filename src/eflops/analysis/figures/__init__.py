"""Functions that make figures and their panels, as config/products.yaml names them."""
