# Best subset and lasso on pooled rows: what is attainable without a federation.


rule references:
    """Fit best subset and lasso to the pooled rows of one data draw."""
    input:
        manifest=results(paths.DATA_MANIFEST),
        arrays=ancient(results(paths.DATA_ARRAYS)),
    output:
        filled(paths.REFERENCE, reference=REFERENCES),
    log:
        logs("references/{dataset}/{ratio}-draw{draw}"),
    benchmark:
        benchmarks("references/{dataset}/{ratio}-draw{draw}")
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("references", "eflops.analysis.references"),
    message:
        "References on {wildcards.dataset} {wildcards.ratio}, draw {wildcards.draw}"
    script:
        "../scripts/references.py"


rule gather_references:
    """Gather the references of an experiment."""
    input:
        experiment_references,
    output:
        results(paths.REFERENCES),
    log:
        logs("gather/{experiment}.references"),
    benchmark:
        benchmarks("gather/{experiment}.references")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        code=code_of("gather_references", "eflops.analysis.references"),
    message:
        "Gather the references of {wildcards.experiment}"
    script:
        "../scripts/gather_references.py"
