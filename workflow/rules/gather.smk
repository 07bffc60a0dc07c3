# One row a run, one row a curve point, and which weights each run kept, experiment by experiment.


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
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.runs, ancestor=2),
        plan=lambda wildcards: json.dumps(PLANS[wildcards.experiment].as_json(), sort_keys=True),
        code=code_hash("eflops.analysis.gather"),
    message:
        "Gather {wildcards.experiment}"
    shell:
        "python -m eflops gather --plan {params.plan:q} --runs {params.results}/runs/{wildcards.experiment}"
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
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output[0], ancestor=2),
        plan=lambda wildcards: json.dumps(PLANS[wildcards.experiment].as_json(), sort_keys=True),
        code=code_hash("eflops.analysis.supports"),
    message:
        "Gather the supports of {wildcards.experiment}"
    shell:
        "python -m eflops gather-supports --plan {params.plan:q} --runs {params.results}/runs/{wildcards.experiment}"
        " --out {output:q} > {log:q} 2>&1"
