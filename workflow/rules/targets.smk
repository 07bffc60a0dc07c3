# The files that targets consist of, and what is said of a misspelt one.
from eflops.config.messages import misspelt


def product_files(kind, target="all"):
    """The files of all tables or all figures of a target."""
    wanted = [each for each in PRODUCTS.values() if each.kind == kind and target_of(STUDY, each) == target]
    return [f"<results>/{path}" for product in wanted for path in product.files]


WHOLE_PRODUCTS = [product_files(kind, target) for kind in ("table", "figure") for target in WHOLE]
WHOLE_CELLS = [f"<results>/{cell}" for cell in CELLS if Path(cell).parts[1] in WHOLE_EXPERIMENTS]

# The searches by the number of their training jobs; a config may have none.
SMALLEST_SEARCH = sorted(SEARCH_OF, key=lambda entry: sum(SEARCH_OF[entry] in Path(cell).parts for cell in CELLS))[:1]

# Of a misspelt file Snakemake says that no rule makes it, or shows a traceback; what was typed is known here, and so is
# the nearest name. The host of a module may have files of its own there.
IS_MODULE = Path(workflow.basedir) not in (ROOT, ROOT / "workflow")
for word in [] if IS_MODULE else sys.argv[1:]:
    if mistake := misspelt(word, STUDY):
        sys.exit(mistake)
