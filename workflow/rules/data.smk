# Raw files and data draws.


def raw_files(wildcards):
    """The downloaded files a data set is made from; none for most."""
    source = getattr(STUDY.datasets[wildcards.dataset], "source", None)
    return [f"resources/{source}/{name}" for name in IDX_FILES] if source else []


def data_settings(wildcards):
    """What a data draw depends on, as JSON."""
    entry = STUDY.datasets[wildcards.dataset]
    return json.dumps(entry.model_dump(mode="json", exclude={"label", "model", "client_fraction", "settings_like"}), sort_keys=True)


rule fetch:
    output:
        expand("resources/{{source}}/{name}", name=IDX_FILES),
    log:
        f"{RESULTS}/logs/fetch/{{source}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fetch/{{source}}.tsv"
    wildcard_constraints:
        source="mnist|fashion_mnist",
    params:
        folder=f"--folder '{STUDY.mnist_folder}'" if STUDY.mnist_folder else "",
    resources:
        mem_mb=500,
        runtime=10,
    message:
        "Fetch {wildcards.source}"
    shell:
        PYTHON + " fetch {wildcards.source} --out resources/{wildcards.source} {params.folder} > {log:q} 2>&1"


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
    params:
        settings=data_settings,
        raw=lambda wildcards, input: f"--raw '{input.raw[0].rpartition('/')[0]}'" if input.raw else "",
        folder=subpath(output.manifest, parent=True),
        code=lambda wildcards: code_hash("eflops.data", data_module(STUDY.datasets[wildcards.dataset].kind)),
    resources:
        mem_mb=1000,
        runtime=5,
    message:
        "Make {wildcards.dataset} {wildcards.ratio}, draw {wildcards.draw}"
    shell:
        PYTHON + " data --settings {params.settings:q} --ratio {wildcards.ratio} --draw {wildcards.draw}"
        " {params.raw} --out {params.folder:q} > {log:q} 2>&1"
