# One row a run, one row a curve point, and which weights each run kept, experiment by experiment.


def plan_records(wildcards):
    """The records of all cells of an experiment."""
    plan = PLANS[wildcards.experiment]
    return [
        f"{RESULTS}/runs/{plan.name}/{ratio}/{method}/{run.path}"
        for ratio in plan.ratios
        for method in plan.methods
        for run in plan.runs
    ]


rule gather:
    input:
        records=plan_records,
    output:
        runs=f"{RESULTS}/gathered/{{experiment}}.csv",
        curves=f"{RESULTS}/gathered/{{experiment}}.curves.csv",
    log:
        f"{RESULTS}/logs/gather/{{experiment}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather/{{experiment}}.tsv"
    params:
        plan=lambda wildcards: json.dumps(PLANS[wildcards.experiment].as_json(), sort_keys=True),
        code=code_hash("eflops.analysis.gather"),
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Gather {wildcards.experiment}"
    shell:
        PYTHON + " gather --plan {params.plan:q} --runs " + RESULTS + "/runs/{wildcards.experiment}"
        " --out {output.runs:q} --curves {output.curves:q} > {log:q} 2>&1"


rule gather_supports:
    input:
        records=plan_records,
    output:
        f"{RESULTS}/gathered/{{experiment}}.supports.csv",
    log:
        f"{RESULTS}/logs/gather/{{experiment}}.supports.log",
    benchmark:
        f"{RESULTS}/benchmarks/gather/{{experiment}}.supports.tsv"
    params:
        plan=lambda wildcards: json.dumps(PLANS[wildcards.experiment].as_json(), sort_keys=True),
        code=code_hash("eflops.analysis.supports"),
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Gather the supports of {wildcards.experiment}"
    shell:
        PYTHON + " gather-supports --plan {params.plan:q} --runs " + RESULTS + "/runs/{wildcards.experiment}"
        " --out {output:q} > {log:q} 2>&1"
