# The E-FLoPS paper from raw data to scorecard. Targets only; the rules stand in workflow/rules, one file a stage.
from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/gather.smk"
include: "workflow/rules/tune.smk"
include: "workflow/rules/references.smk"
include: "workflow/rules/products.smk"
include: "workflow/rules/scorecard.smk"
include: "workflow/rules/provenance.smk"


# The first page of the report is the closing summary of the run.
report: os.path.abspath(f"{RESULTS}/{whole.SUMMARY}")


# On a cluster these run where Snakemake does: they are light, and nodes may not reach the net.
localrules:
    all,
    shown,
    write_report,
    tables,
    figures,
    scorecard,
    smoke,
    tune,
    fetch,
    gather,
    gather_supports,
    gather_references,
    rank,
    table,
    figure,
    judge,
    conclude,
    study,


rule tables:
    input:
        product_files("table"),


rule figures:
    input:
        product_files("figure"),


rule scorecard:
    input:
        rules.judge.output,


rule tune:
    input:
        [f"{RESULTS}/tuning/{dataset}.json" for dataset in SEARCH_OF],


rule shown:
    input:
        rules.tables.input,
        rules.figures.input,
        rules.scorecard.input,
        rules.conclude.output,
        rules.study.output,
        product_records(),


include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.shown.input,
        rules.write_report.output,


rule smoke:
    input:
        rules.all.input,
