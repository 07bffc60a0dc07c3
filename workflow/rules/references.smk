# Best subset and lasso on pooled rows: what is attainable without a federation.


rule references:
    """Fit best subset and lasso to the pooled rows of every data draw of an experiment."""
    input:
        manifests=experiment_data("manifest.json"),
        # As in training: the manifest changes with its arrays, so that their dates do not matter.
        arrays=ancient(experiment_data("federation.npz")),
        test_features=ancient(shared_data),
        spec=local("<wanted>/references/{experiment}.json"),
    output:
        fits="<results>/gathered/{experiment}.references.csv",
        spec="<results>/specs/references/{experiment}.json",
    log:
        "<logs>/references/{experiment}.log",
    benchmark:
        "<benchmarks>/references/{experiment}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        spec=spec_digest,
    message:
        "References of {wildcards.experiment}"
    script:
        "../scripts/references.py"
