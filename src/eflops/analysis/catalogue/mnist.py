"""Tables and figures of the MNIST experiments."""

from eflops.analysis.catalogue.product import Product

CATEGORY = "MNIST"

PRODUCTS: tuple[Product, ...] = ()
