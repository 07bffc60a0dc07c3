# One training job a cell: a data set, a ratio and a method with all its variants, draws and seeds, or so many seeds as
# `seeds_per_job` says. Every experiment and search has rules of its own, because the records that a job writes differ.


for plan in PLANS.values():
    for suffix, runs in plan.parts(STUDY.seeds_per_job):

        rule:
            name:
                f"train_{plan.name}{suffix}"
            input:
                manifests=cell_data,
                arrays=ancient(cell_arrays),
            output:
                # Kept until replaced: a record that is up to date is not trained again when seeds or variants are added.
                records=[update(f"{RESULTS}/runs/{{experiment}}/{{ratio}}/{{method}}/{run.path}") for run in runs],
            log:
                f"{RESULTS}/logs/train/{{experiment}}/{{ratio}}/{{method}}{suffix}.log",
            benchmark:
                f"{RESULTS}/benchmarks/train/{{experiment}}/{{ratio}}/{{method}}{suffix}.tsv"
            wildcard_constraints:
                experiment=plan.name,
            conda:
                "../../envs/eflops.yaml"
            resources:
                mem_mb=NEEDS.memory("train/{experiment}"),
                runtime=NEEDS.minutes("train/{experiment}"),
            params:
                results=subpath(output[0], ancestor=6),
                job=cell_job,
                code=cell_code,
                block=STUDY.block_size,
                folder=subpath(output[0], ancestor=2),
            message:
                f"Train {{wildcards.method}} on {{wildcards.experiment}} {{wildcards.ratio}}{suffix.replace('_seeds', ', seeds ')}"
            shell:
                "python -m eflops train --job {params.job:q} --data {params.results}/data --folder {params.folder:q}"
                " --block-size {params.block} {output.records:q} > {log:q} 2>&1"
