# Best subset and lasso on pooled rows: what is attainable without a federation.


rule references:
    """Fit best subset and lasso to the pooled rows of every data draw of an experiment."""
    input:
        manifests=partial(experiment_draws, template=paths.DATA_MANIFEST),
        arrays=ancient(partial(experiment_draws, template=paths.DATA_ARRAYS)),
    output:
        results(paths.REFERENCES),
    log:
        logs("references/{experiment}"),
    benchmark:
        benchmarks("references/{experiment}")
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("references", "eflops.analysis.references"),
    message:
        "References of {wildcards.experiment}"
    script:
        "../scripts/references.py"
