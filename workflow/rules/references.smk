# Best subset and lasso on pooled rows: what is attainable without a federation.
REFERENCES = ("best_subset", "lasso")


def experiment_references(wildcards):
    """The references of every data draw that an experiment trains on."""
    plan = PLANS[wildcards.experiment]
    return [
        f"{RESULTS}/references/{plan.dataset}/{cells.data_label(ratio, draw)}/{name}.json"
        for ratio in plan.ratios
        for draw in plan.draws
        for name in REFERENCES
    ]


rule references:
    input:
        manifest=f"{RESULTS}/data/{{dataset}}/{{ratio}}-draw{{draw}}/manifest.json",
        arrays=ancient(f"{RESULTS}/data/{{dataset}}/{{ratio}}-draw{{draw}}/federation.npz"),
    output:
        expand(f"{RESULTS}/references/{{{{dataset}}}}/{{{{ratio}}}}-draw{{{{draw}}}}/{{name}}.json", name=REFERENCES),
    log:
        f"{RESULTS}/logs/references/{{dataset}}/{{ratio}}-draw{{draw}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/references/{{dataset}}/{{ratio}}-draw{{draw}}.tsv"
    params:
        folder=subpath(input.manifest, parent=True),
        code=code_hash("eflops.analysis.references"),
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "References on {wildcards.dataset} {wildcards.ratio}, draw {wildcards.draw}"
    shell:
        PYTHON + " references {params.folder:q} --out {output:q} > {log:q} 2>&1"


rule gather_references:
    input:
        experiment_references,
    output:
        f"{RESULTS}/gathered/{{experiment}}.references.csv",
    log:
        f"{RESULTS}/logs/gather/{{experiment}}.references.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather/{{experiment}}.references.tsv"
    params:
        code=code_hash("eflops.analysis.references"),
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Gather the references of {wildcards.experiment}"
    shell:
        PYTHON + " gather-references {input:q} --out {output:q} > {log:q} 2>&1"
