"""Tables and figures of the synthetic experiments."""

from eflops.analysis.catalogue.product import Kind, Product

CATEGORY = "Synthetic regression"
RUNS = ("support_recovery",)
RATES = ("support_recovery", "rates_theta", "rates_phi")
REFERENCES = ("gathered/support_recovery.references.csv",)
TARGETS = ("resources/paper/targets.yaml",)
ABLATIONS = {
    "recovery": "Gate parameters from mean gates: as printed and exactly",
    "prune": "Prune start",
    "gate": "Noise-free gate",
    "steps": "Local steps",
    "literal": "The paper's choices to the letter",
    "entropy": "Entropy and the rate of the gates",
}
# No table and figure share a name.
KINDS: tuple[tuple[Kind, str], ...] = (("table", "ablation"), ("figure", "fig"))
SINGLE = tuple(f"ablation_{name}" for name in ABLATIONS if name != "entropy")

PRODUCTS = (
    Product("table", "support_recovery", "Table 1: support recovery over N/d", CATEGORY, RUNS, REFERENCES),
    Product("table", "support_recovery_paper", "Table 1 beside the paper's", CATEGORY, RUNS, resources=TARGETS),
    Product("table", "support_recovery_tests", "Paired tests of support recovery", CATEGORY, RUNS),
    Product("table", "r2_tests", "Paired tests of the test R2", CATEGORY, RUNS),
    Product("table", "support_recovery_draws", "Table 1 over data draws", CATEGORY, ("draws",)),
    Product("figure", "fig1a", "Figure 1a: test R2 over rounds", CATEGORY, RUNS),
    Product("figure", "fig1b", "Figure 1b: test R2 over N/d", CATEGORY, RUNS),
    Product("figure", "fig1c", "Figure 1c: test R2 over the weights' rate", CATEGORY, ("rates_theta",)),
    Product("figure", "fig1d", "Figure 1d: test R2 over the gates' rate", CATEGORY, ("rates_phi",)),
    Product("figure", "fig1", "Figure 1", CATEGORY, RATES),
    *(
        Product(kind, f"{prefix}_{name}", f"Ablation: {title}", CATEGORY, (f"ablation_{name}",))
        for name, title in ABLATIONS.items()
        for kind, prefix in KINDS
    ),
    Product("figure", "fig_ablations", "All ablations of single settings", CATEGORY, SINGLE),
)
