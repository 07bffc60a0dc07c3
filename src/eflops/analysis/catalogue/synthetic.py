"""Tables and figures of the synthetic experiments."""

from eflops.analysis.catalogue.product import Product

CATEGORY = "Synthetic regression"

PRODUCTS = (
    Product("table", "support_recovery", "Support recovery over N/d", CATEGORY, ("support_recovery",)),
    Product("figure", "fig1a", "Test R2 over rounds", CATEGORY, ("support_recovery",)),
)
