# One training job a cell: a data set, a ratio and a method with all its variants, draws and seeds. Every experiment and
# search has a rule of its own, because the records that a cell writes differ from one to the next.


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
        conda:
            "../../envs/eflops.yaml"
        resources:
            mem_mb=1000,
            runtime=30,
        params:
            results=lambda wildcards: RESULTS,
            job=cell_job,
            code=cell_code,
            block=STUDY.block_size,
            folder=f"{RESULTS}/runs/{{experiment}}/{{ratio}}/{{method}}",
        message:
            "Train {wildcards.method} on {wildcards.experiment} {wildcards.ratio}"
        shell:
            "python -m eflops train --job {params.job:q} --data {params.results}/data --folder {params.folder:q}"
            " --block-size {params.block} {output.records:q} > {log:q} 2>&1"
