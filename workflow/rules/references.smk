# Best subset and lasso on pooled rows: what is attainable without a federation.


rule references:
    input:
        manifest=f"{RESULTS}/data/{{dataset}}/{{ratio}}-draw{{draw}}/manifest.json",
        arrays=ancient(f"{RESULTS}/data/{{dataset}}/{{ratio}}-draw{{draw}}/federation.npz"),
    output:
        expand(
            f"{RESULTS}/references/{{{{dataset}}}}/{{{{ratio}}}}-draw{{{{draw}}}}/{{name}}.json",
            name=REFERENCES,
        ),
    log:
        f"{RESULTS}/logs/references/{{dataset}}/{{ratio}}-draw{{draw}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/references/{{dataset}}/{{ratio}}-draw{{draw}}.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=NEEDS.memory("references/{dataset}"),
        runtime=NEEDS.minutes("references/{dataset}"),
    params:
        folder=subpath(input.manifest, parent=True),
        code=code_hash("eflops.analysis.references"),
    message:
        "References on {wildcards.dataset} {wildcards.ratio}, draw {wildcards.draw}"
    shell:
        "python -m eflops references {params.folder:q} --out {output:q} > {log:q} 2>&1"


rule gather_references:
    input:
        experiment_references,
    output:
        f"{RESULTS}/gathered/{{experiment}}.references.csv",
    log:
        f"{RESULTS}/logs/gather/{{experiment}}.references.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather/{{experiment}}.references.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        code=code_hash("eflops.analysis.references"),
    message:
        "Gather the references of {wildcards.experiment}"
    shell:
        "python -m eflops gather-references {input:q} --out {output:q} > {log:q} 2>&1"
