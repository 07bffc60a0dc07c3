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


rule data:
    """Make one data draw: a federation of clients with its test rows."""
    input:
        plan=draw_plan,
        raw=raw_files,
    output:
        manifest=results(paths.DATA_MANIFEST),
        arrays=results(paths.DATA_ARRAYS),
    log:
        logs("data/{dataset}/{ratio}-draw{draw}"),
    benchmark:
        benchmarks("data/{dataset}/{ratio}-draw{draw}")
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        settings=draw_settings,
        code=draw_code,
    message:
        "Make {wildcards.dataset} {wildcards.ratio}, draw {wildcards.draw}"
    script:
        "../scripts/data.py"


rule genes:
    """Name the genes of expression data."""
    input:
        gene_files,
        plan=lambda wildcards: asked(f"data/{wildcards.dataset}/genes", gene_settings(wildcards)),
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
        settings=gene_settings,
        code=code_of("genes", "eflops.data.expression"),
    message:
        "Name the genes of {wildcards.dataset}"
    script:
        "../scripts/genes.py"
