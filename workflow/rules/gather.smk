# One row per run, one row per curve point, and which weights each run kept, experiment by experiment.


rule gather:
    """Gather the records of an experiment or search, each checked against its plan."""
    input:
        plans=lambda wildcards: [local(results(each.plan)) for each in experiment_slices(wildcards)],
        cells=lambda wildcards: [results(each.cell) for each in experiment_slices(wildcards)],
    output:
        runs=results(paths.GATHERED),
        curves=results(paths.CURVES),
        supports=results(paths.SUPPORTS),
    log:
        logs("gather/{experiment}"),
    benchmark:
        benchmarks("gather/{experiment}")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        results=subpath(output.runs, ancestor=2),
        code=code_of("gather", "eflops.analysis.gather"),
    message:
        "Gather {wildcards.experiment}"
    script:
        "../scripts/gather.py"
