"""Tables and figures of the Golub leukaemia experiments."""

from eflops.analysis.catalogue.product import Product

CATEGORY = "Golub leukaemia"

PRODUCTS: tuple[Product, ...] = ()
