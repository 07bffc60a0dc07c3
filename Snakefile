# The E-FLoPS paper from raw data to scorecard. Targets only; the rules stand in workflow/rules, one file per stage.
from snakemake.utils import min_version

min_version("9.19")


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/gather.smk"
include: "workflow/rules/search.smk"
include: "workflow/rules/references.smk"
include: "workflow/rules/products.smk"
include: "workflow/rules/scorecard.smk"
include: "workflow/rules/explorer.smk"


# The first page of Snakemake's report is the summary of the run.
report: os.path.abspath(results(paths.SUMMARY_OF_REPORT))


rule all:
    """Every table and figure, the scorecard, the summary, and the page on which every number opens."""
    default_target: True
    input:
        rules.explorer.input,
        # Asked for by name, so that a run whose record is gone is trained again although no table is due.
        [results(each.cell) for each in SLICES.values() if target_of_cell(each.cell) in WHOLE],
        rules.explorer.output,
    message:
        "All is made"


rule tables:
    """Every table."""
    input:
        product_files("table"),
    message:
        "All tables are made"


rule figures:
    """Every figure."""
    input:
        product_files("figure"),
    message:
        "All figures are made"


for TARGET in sorted({entry.target for entry in STUDY.experiments.values()} - {"all"}):

    rule:
        name:
            TARGET
        input:
            product_files("table", TARGET),
            product_files("figure", TARGET),
        message:
            "All of this target is made"


rule search:
    """The searches of settings; `make search` takes their choices over."""
    input:
        filled(paths.CHOSEN, dataset=SEARCH_OF),
    message:
        "All searches are ranked"


rule smoke:
    """Everything, for a config of tiny sizes."""
    input:
        rules.all.input,
    message:
        "All is made"
