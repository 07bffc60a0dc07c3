# Raw files and data draws.


rule fetch:
    """Bring the files of MNIST or Fashion-MNIST into resources/, which all studies in this folder share."""
    output:
        results(paths.RAW),
    log:
        logs("fetch/{source}"),
    benchmark:
        benchmarks("fetch/{source}")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        folder=lambda wildcards: f"resources/{wildcards.source}",
        given=lambda wildcards: STUDY.mnist_folder or "",
        code=code_of("fetch", "eflops.data.idx"),
    message:
        "Fetch {wildcards.source}"
    script:
        "../scripts/fetch.py"


for BATCH in data_batches(STUDY):

    rule:
        """Make data draws, each a federation of clients with its test rows."""
        name:
            BATCH.rule
        input:
            plan=asked(f"data/{BATCH.rule}", data_slice(BATCH.dataset), data_code(BATCH.dataset)),
            raw=raw_files(BATCH.dataset),
        output:
            manifests=batch_files(BATCH, paths.DATA_MANIFEST),
            arrays=batch_files(BATCH, paths.DATA_ARRAYS),
        log:
            logs(BATCH.job),
        benchmark:
            benchmarks(BATCH.job)
        wildcard_constraints:
            draw="|".join(map(str, BATCH.draws)),
        conda:
            "../../envs/analysis.yaml"
        resources:
            mem_mb=growing(1000),
            runtime=growing(5),
        params:
            settings=data_slice(BATCH.dataset),
            code=data_code(BATCH.dataset),
        message:
            BATCH.message
        script:
            "../scripts/data.py"


rule genes:
    """Name the features of data that are read from a file, such as genes."""
    input:
        gene_files,
        plan=lambda wildcards: GENE_PLANS[wildcards.dataset],
    output:
        results(paths.GENES),
    log:
        logs("data/{dataset}/genes"),
    benchmark:
        benchmarks("data/{dataset}/genes")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        settings=lambda wildcards: data_slice(wildcards.dataset),
        code=code_of("genes", "eflops.data.build", "eflops.data.expression", "eflops.data.table"),
    message:
        "Name the features of {wildcards.dataset}"
    script:
        "../scripts/genes.py"
