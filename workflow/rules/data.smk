# Raw files and data draws.


rule fetch:
    output:
        local(expand("resources/{{source}}/{name}", name=IDX_FILES)),
    log:
        f"{RESULTS}/logs/fetch/{{source}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fetch/{{source}}.tsv"
    wildcard_constraints:
        source="mnist|fashion_mnist",
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        folder=f"--folder '{STUDY.mnist_folder}'" if STUDY.mnist_folder else "",
    message:
        "Fetch {wildcards.source}"
    shell:
        "python -m eflops fetch {wildcards.source} --out resources/{wildcards.source} {params.folder} > {log:q} 2>&1"


rule data:
    input:
        raw=raw_files,
    output:
        manifest=f"{RESULTS}/data/{{dataset}}/{{ratio}}-draw{{draw}}/manifest.json",
        arrays=f"{RESULTS}/data/{{dataset}}/{{ratio}}-draw{{draw}}/federation.npz",
    log:
        f"{RESULTS}/logs/data/{{dataset}}/{{ratio}}-draw{{draw}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/data/{{dataset}}/{{ratio}}-draw{{draw}}.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=NEEDS.memory("data/{dataset}"),
        runtime=NEEDS.minutes("data/{dataset}"),
    params:
        settings=data_settings,
        raw=raw_folder,
        folder=subpath(output.manifest, parent=True),
        code=lambda wildcards: code_hash("eflops.data", data_module(STUDY.datasets[wildcards.dataset].kind)),
    message:
        "Make {wildcards.dataset} {wildcards.ratio}, draw {wildcards.draw}"
    shell:
        "python -m eflops data --settings {params.settings:q} --ratio {wildcards.ratio} --draw {wildcards.draw}"
        " {params.raw} --out {params.folder:q} > {log:q} 2>&1"
