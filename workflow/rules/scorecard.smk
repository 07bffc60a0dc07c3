# Every number and claim of the paper, judged by the runs of those experiments that the config has.
from eflops.analysis.catalogue import whole
from eflops.analysis.scorecard.needs import judges, needs

TARGETS = "resources/paper/targets.yaml"
SCORECARD = {
    "experiments": [name for name in needs(Path(TARGETS), "EXPERIMENTS") if name in STUDY.experiments],
    "tables": [name for name in needs(Path(TARGETS), "TABLES") if name in PRODUCTS],
}
SUMMARISED = whole.summary_sources({path for product in PRODUCTS.values() for path in product.files})


rule judge:
    input:
        targets=local(TARGETS),
        runs=expand(f"{RESULTS}/gathered/{{name}}.csv", name=SCORECARD["experiments"]),
        curves=expand(f"{RESULTS}/gathered/{{name}}.curves.csv", name=SCORECARD["experiments"]),
        tables=expand(f"{RESULTS}/tables/{{name}}.csv", name=SCORECARD["tables"]),
    output:
        markdown=f"{RESULTS}/scorecard.md",
        json=f"{RESULTS}/scorecard.json",
        html=report(
            f"{RESULTS}/scorecard.html",
            caption="../report/scorecard.rst",
            category="Scorecard",
            subcategory="Tables",
            labels={"what": "Every number and claim of the paper, judged"},
        ),
    log:
        f"{RESULTS}/logs/scorecard.log",
    benchmark:
        f"{RESULTS}/benchmarks/scorecard.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.markdown, parent=True),
        context=CONTEXT,
        experiments=" ".join(SCORECARD["experiments"]),
        tables=" ".join(SCORECARD["tables"]),
        code=code_hash("eflops.analysis.scorecard.make", *judges(Path(TARGETS))),
    message:
        "Judge the paper's numbers and claims"
    shell:
        "python -m eflops scorecard --results {params.results} --targets {input.targets:q} --context {params.context:q}"
        " --experiments {params.experiments} --tables {params.tables} --out {output:q} > {log:q} 2>&1"


rule conclude:
    input:
        expand(f"{RESULTS}/{{path}}", path=SUMMARISED),
    output:
        f"{RESULTS}/{whole.SUMMARY}",
    log:
        f"{RESULTS}/logs/summary.log",
    benchmark:
        f"{RESULTS}/benchmarks/summary.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output[0], parent=True),
        sources=" ".join(SUMMARISED),
        code=code_hash("eflops.analysis.closing"),
    message:
        "Sum up what was found"
    shell:
        "python -m eflops conclude {params.sources} --results {params.results} --out {output:q} > {log:q} 2>&1"
