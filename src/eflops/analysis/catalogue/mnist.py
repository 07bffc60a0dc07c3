"""Tables and figures of the MNIST experiments."""

from eflops.analysis.catalogue.product import Product

CATEGORY = "MNIST"
RUNS = ("mnist",)
CUTS = ("mnist_cut",)

PRODUCTS = (
    Product("table", "mnist", "The CNN on MNIST", CATEGORY, RUNS),
    Product("table", "mnist_tests", "Paired tests on MNIST", CATEGORY, RUNS),
    Product("table", "mnist_layers", "The CNN layer by layer", CATEGORY, RUNS, ("gathered/mnist.supports.csv",)),
    Product("table", "mnist_cut", "When to cut", CATEGORY, CUTS),
    Product("figure", "fig2a", "Figure 2a: accuracy over rounds", CATEGORY, RUNS),
    Product("figure", "fig2b", "Figure 2b: compression of communication", CATEGORY, RUNS),
    Product("figure", "fig2c", "Figure 2c: bytes in training and tuning", CATEGORY, RUNS),
    Product("figure", "fig2d", "Figure 2d: operations removed", CATEGORY, RUNS),
    Product("figure", "fig2", "Figure 2", CATEGORY, RUNS),
    Product("figure", "mnist_bytes", "Accuracy against bytes", CATEGORY, (*RUNS, *CUTS)),
)
