"""What is made from all experiments together."""

from eflops.analysis.catalogue.product import Product

CATEGORY = "Scorecard"
SCORECARD = "scorecard.json"
PRODUCTS = (Product("figure", "fig_scorecard", "The scorecard at a glance", CATEGORY, (), (SCORECARD,)),)

# The closing summary and what it may be made from, below a results folder.
SUMMARY = "summary.md"
T0_TESTS = "tables/support_recovery_tests.csv"
RECOVERY = "tables/ablation_recovery.csv"
BYTES = "tables/mnist.csv"
PRUNE = "tables/ablation_prune.csv"
SCALING = "figures/golub_scaling.csv"
RATES = ("figures/fig1c.csv", "figures/fig1d.csv")


def summary_sources(files: set[str]) -> list[str]:
    """The sources of the summary, of which only the scorecard must be there, among the products' files."""
    return [SCORECARD, *(path for path in (T0_TESTS, RECOVERY, BYTES, PRUNE, SCALING, *RATES) if path in files)]
