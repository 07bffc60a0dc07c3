# The E-FLoPS paper from raw data to scorecard. Targets only; the rules stand in workflow/rules, one file per stage.
from snakemake.utils import min_version

min_version("9.19")


include: "workflow/rules/common.smk"
include: "workflow/rules/specs.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/gather.smk"
include: "workflow/rules/search.smk"
include: "workflow/rules/references.smk"
include: "workflow/rules/products.smk"
include: "workflow/rules/scorecard.smk"
include: "workflow/rules/explorer.smk"


# The first page of Snakemake's report is the summary of the run; after a single target there is none yet.
FIRST_PAGES = [os.path.abspath(f"{RESULTS}/summary.rst"), str(ROOT / "workflow/report/partial.rst")]


report: next(filter(os.path.exists, FIRST_PAGES))


rule all:
    """Every table and figure, the scorecard, the summary, and the results explorer."""
    default_target: True
    input:
        # Named although the explorer needs them: Snakemake does not rebuild a file that is gone if nothing else is due.
        WHOLE_CELLS,
        WHOLE_PRODUCTS,
        "<results>/scorecard.md",
        "<results>/summary.json",
        "<results>/summary.md",
        "<results>/study.json",
        "<results>/explorer.html",
    message:
        "Done"


rule tables:
    """Every table."""
    input:
        product_files("table"),
    message:
        "Done: all tables"


rule figures:
    """Every figure."""
    input:
        product_files("figure"),
    message:
        "Done: all figures"


for TARGET in sorted({entry.target for entry in STUDY.experiments.values()} - {"all"}):

    rule:
        name:
            TARGET
        input:
            product_files("table", TARGET),
            product_files("figure", TARGET),
        message:
            "Done: this target"


rule search:
    """The searches of settings; `make search` adopts their choices."""
    input:
        expand("<results>/search/{dataset}.json", dataset=SEARCH_OF),
    message:
        "Done: all searches ranked"


rule smoke:
    """Every rule, for a config of tiny sizes: all, and the search with the fewest jobs."""
    input:
        rules.all.input,
        expand("<results>/search/{dataset}.json", dataset=SMALLEST_SEARCH),
    message:
        "Done"
