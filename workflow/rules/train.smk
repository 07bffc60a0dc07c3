# One training job per cell: a data set, a ratio and a method with all its variants, draws and seeds, or as many seeds as
# `seeds_per_job` says. The job writes one record per run, and a manifest that lists them.


rule train:
    """Train the runs of one cell side by side and write one record per run."""
    input:
        manifests=cell_data("manifest.json"),
        # A manifest changes whenever its arrays do, so that their age does not matter.
        arrays=ancient(cell_data("federation.npz")),
        test_features=ancient(shared_data),
        spec=local("<wanted>/train/{experiment}/{ratio}/{method}{part}.json"),
    output:
        # Records are not declared: Snakemake deletes declared outputs before a job, and valid records are kept.
        cell="<results>/cells/{experiment}/{ratio}/{method}{part}.json",
        spec="<results>/specs/train/{experiment}/{ratio}/{method}{part}.json",
    log:
        "<logs>/train/{experiment}/{ratio}/{method}{part}.log",
    benchmark:
        "<benchmarks>/train/{experiment}/{ratio}/{method}{part}.tsv"
    conda:
        "../../envs/train.yaml"
    resources:
        # A retry on a cluster asks for more, because a job that needed more memory would fail again.
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        results=subpath(output.cell, ancestor=4),
        block=STUDY.block_size,
        spec=spec_digest,
    message:
        "Train {wildcards.method} on {wildcards.experiment} {wildcards.ratio}{wildcards.part}"
    script:
        "../scripts/train.py"
