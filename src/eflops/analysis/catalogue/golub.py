"""Tables and figures of the Golub leukaemia experiments."""

from eflops.analysis.catalogue.product import Product

CATEGORY = "Golub leukaemia"
SEEDS, SPLITS = ("golub_runs",), ("golub_splits",)
BOTH = (*SEEDS, *SPLITS)
COMPARED = (*BOTH, "golub_literal")
SCALINGS = (*SEEDS, "golub_scaling_array", "golub_scaling_log_array", "golub_scaling_log_gene")
GENES = tuple(f"resources/golub/{name}" for name in ("expression.csv.gz", "probes.csv.gz", "gene_names.csv"))


def supports(experiments: tuple[str, ...]) -> tuple[str, ...]:
    """The files of the weights that each run kept."""
    return tuple(f"gathered/{name}.supports.csv" for name in experiments)


def references(experiments: tuple[str, ...]) -> tuple[str, ...]:
    """The files of the fits to pooled samples."""
    return tuple(f"gathered/{name}.references.csv" for name in experiments)


PRODUCTS = (
    Product("table", "gene_frequency", "Table 2: genes by frequency", CATEGORY, SEEDS, supports(SEEDS), GENES),
    Product("table", "golub_accuracy", "Accuracy, cross-entropy and AUC", CATEGORY, COMPARED, references(BOTH)),
    Product("table", "golub_tests", "Paired tests on the leukaemia data", CATEGORY, COMPARED),
    Product(
        "table",
        "golub_stability",
        "Stability of the selected genes",
        CATEGORY,
        COMPARED,
        (*supports(COMPARED), *references(SPLITS)),
        GENES,
    ),
    Product("figure", "fig3a", "Figure 3a: accuracy over rounds, run seeds", CATEGORY, SEEDS),
    Product("figure", "fig3b", "Figure 3b: accuracy over rounds, splits", CATEGORY, SPLITS),
    Product("figure", "fig3", "Figure 3", CATEGORY, BOTH),
    Product("figure", "golub_scaling", "Genes by scaling", CATEGORY, SCALINGS, supports(SCALINGS), GENES),
)
