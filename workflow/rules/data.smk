# Raw files and data draws.


rule fetch:
    """Fetch the files of MNIST or Fashion-MNIST into resources/, which all studies in this folder share."""
    input:
        spec=local("<wanted>/fetch/{source}.json"),
    output:
        listing="<results>/raw/{source}.json",
        spec="<results>/specs/fetch/{source}.json",
    log:
        "<logs>/fetch/{source}.log",
    benchmark:
        "<benchmarks>/fetch/{source}.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        spec=spec_digest,
    message:
        "Fetch {wildcards.source}"
    script:
        "../scripts/fetch.py"


# A job of its own, whose spec has only what the features depend on: all N/d of a draw read one file, and a change of
# the clients does not make it again.
rule test_features:
    """Make the test features of one draw of synthetic data, which all its N/d share."""
    input:
        spec=local("<wanted>/data/{dataset}/test-draw{draw}.json"),
    output:
        features="<results>/data/{dataset}/test-draw{draw}.npz",
        spec="<results>/specs/data/{dataset}/test-draw{draw}.json",
    log:
        "<logs>/data/{dataset}/test-draw{draw}.log",
    benchmark:
        "<benchmarks>/data/{dataset}/test-draw{draw}.tsv"
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        spec=spec_digest,
    message:
        "Make the test features of {wildcards.dataset}, draw {wildcards.draw}"
    script:
        "../scripts/test_features.py"


for DATASET in STUDY.datasets:

    rule:
        """Make one data draw, a federation of clients with its test rows."""
        name:
            f"data_{DATASET}"
        input:
            raw_files(DATASET),
            test_features=shared_features(DATASET),
            spec=local(f"<wanted>/data/{DATASET}/{{ratio}}-draw{{draw}}.json"),
        output:
            arrays=f"<results>/data/{DATASET}/{{ratio}}-draw{{draw}}/federation.npz",
            manifest=f"<results>/data/{DATASET}/{{ratio}}-draw{{draw}}/manifest.json",
            spec=f"<results>/specs/data/{DATASET}/{{ratio}}-draw{{draw}}.json",
        log:
            f"<logs>/data/{DATASET}/{{ratio}}-draw{{draw}}.log",
        benchmark:
            f"<benchmarks>/data/{DATASET}/{{ratio}}-draw{{draw}}.tsv"
        conda:
            "../../envs/analysis.yaml"
        resources:
            mem_mb=growing(1000),
            runtime=growing(5),
        params:
            spec=spec_digest,
        message:
            f"Make {DATASET} {{wildcards.ratio}}, draw {{wildcards.draw}}"
        script:
            "../scripts/data.py"


rule genes:
    """Name the features of data that are read from a file, such as genes."""
    input:
        gene_files,
        spec=local("<wanted>/data/{dataset}/genes.json"),
    output:
        genes="<results>/data/{dataset}/genes.csv",
        spec="<results>/specs/data/{dataset}/genes.json",
    log:
        "<logs>/data/{dataset}/genes.log",
    benchmark:
        "<benchmarks>/data/{dataset}/genes.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        spec=spec_digest,
    message:
        "Name the features of {wildcards.dataset}"
    script:
        "../scripts/genes.py"
