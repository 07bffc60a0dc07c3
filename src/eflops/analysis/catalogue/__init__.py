"""Which tables and figures there are, and what each is made from. Pure data: the workflow is built from it."""

from collections.abc import Iterator

from eflops.analysis.catalogue import golub, mnist, synthetic, whole
from eflops.analysis.catalogue.product import Product
from eflops.config.models import Config

PRODUCTS: tuple[Product, ...] = (*synthetic.PRODUCTS, *golub.PRODUCTS, *mnist.PRODUCTS, *whole.PRODUCTS)


def products(config: Config) -> Iterator[Product]:
    """The products whose experiments the config has."""
    return (product for product in PRODUCTS if set(product.experiments) <= set(config.experiments))
