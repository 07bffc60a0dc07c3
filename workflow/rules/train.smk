# One training job per cell: a data set, a ratio and a method with all its variants, draws and seeds, or as many seeds as
# `seeds_per_job` says. The job writes one record per run, and a manifest that lists them.


rule train:
    """Train the runs of one cell side by side and write one record per run."""
    input:
        plan=lambda wildcards: local(results(slice_of(wildcards).plan)),
        manifests=partial(cell_draws, template=paths.DATA_MANIFEST),
        # A manifest changes whenever its arrays do, so that their age does not matter.
        arrays=ancient(partial(cell_draws, template=paths.DATA_ARRAYS)),
    output:
        results(paths.CELL),
    log:
        logs("train/{experiment}/{ratio}/{method}{part}"),
    benchmark:
        benchmarks("train/{experiment}/{ratio}/{method}{part}")
    conda:
        "../../envs/train.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        results=subpath(output[0], ancestor=4),
        plan=lambda wildcards: slice_of(wildcards).digest,
        block=STUDY.block_size,
        code=code_of("train", "eflops.script"),
    message:
        "Train {wildcards.method} on {wildcards.experiment} {wildcards.ratio}{wildcards.part}"
    script:
        "../scripts/train.py"
