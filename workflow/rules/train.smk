# One training job a cell: a data set, a ratio and a method with all its variants, draws and seeds. Every experiment and
# search has a rule of its own, because the records that a cell writes differ from one to the next.


def cell_data(wildcards):
    """The manifests of the data draws that a cell trains on; their hashes name the data."""
    plan = PLANS[wildcards.experiment]
    folders = [cells.data_label(wildcards.ratio, draw) for draw in plan.draws]
    return [f"{RESULTS}/data/{plan.dataset}/{folder}/manifest.json" for folder in folders]


def cell_arrays(wildcards):
    """The arrays beside the manifests; a manifest changes whenever its arrays do, so that their age does not matter."""
    return [path.replace("manifest.json", "federation.npz") for path in cell_data(wildcards)]


def cell_job(wildcards):
    """A cell's slice of the config, as JSON."""
    return json.dumps(cells.job(STUDY, wildcards.experiment, wildcards.ratio, wildcards.method), sort_keys=True)


def cell_code(wildcards):
    """The name of the code that a cell's training can reach."""
    plan = PLANS[wildcards.experiment]
    roots = training_roots(STUDY.methods[wildcards.method].method, STUDY.datasets[plan.dataset].model, STUDY.engine)
    return code_hash(*roots)


for plan in PLANS.values():

    rule:
        name:
            f"train_{plan.name}"
        input:
            manifests=cell_data,
            arrays=ancient(cell_arrays),
        output:
            # Kept until replaced: a record that is up to date is not trained again when seeds or variants are added.
            records=[update(f"{RESULTS}/runs/{{experiment}}/{{ratio}}/{{method}}/{run.path}") for run in plan.runs],
        log:
            f"{RESULTS}/logs/train/{{experiment}}/{{ratio}}/{{method}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/train/{{experiment}}/{{ratio}}/{{method}}.tsv"
        wildcard_constraints:
            experiment=plan.name,
        params:
            job=cell_job,
            code=cell_code,
            block=STUDY.block_size,
            folder=f"{RESULTS}/runs/{{experiment}}/{{ratio}}/{{method}}",
        resources:
            mem_mb=1000,
            runtime=30,
        message:
            "Train {wildcards.method} on {wildcards.experiment} {wildcards.ratio}"
        shell:
            PYTHON + " train --job {params.job:q} --data " + RESULTS + "/data --folder {params.folder:q}"
            " --block-size {params.block} {output.records:q} > {log:q} 2>&1"
