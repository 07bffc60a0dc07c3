# One row per run, one row per curve point, and which weights each run kept, experiment by experiment.


rule gather:
    """Gather the records of an experiment or search, each checked against the spec of its training job."""
    input:
        # Records are no declared outputs, so they are no inputs either: manifests name them with their hashes.
        specs=cell_files("<results>/specs/train/{experiment}/{ratio}/{method}{part}.json"),
        cells=cell_files("<results>/cells/{experiment}/{ratio}/{method}{part}.json"),
        spec=local("<wanted>/gather/{experiment}.json"),
    output:
        runs="<results>/gathered/{experiment}.csv",
        curves="<results>/gathered/{experiment}.curves.csv",
        supports="<results>/gathered/{experiment}.supports.csv",
        spec="<results>/specs/gather/{experiment}.json",
    log:
        "<logs>/gather/{experiment}.log",
    benchmark:
        "<benchmarks>/gather/{experiment}.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        results=subpath(output.runs, ancestor=2),
        spec=spec_digest,
    message:
        "Gather {wildcards.experiment}"
    script:
        "../scripts/gather.py"
