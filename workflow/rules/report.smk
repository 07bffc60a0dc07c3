# Snakemake's own report of everything that a finished run shows, on one page that needs no network.


rule write_report:
    input:
        rules.shown.input,
    output:
        f"{RESULTS}/report.html",
    log:
        f"{RESULTS}/logs/report.log",
    benchmark:
        f"{RESULTS}/benchmarks/report.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        # As merged from all config files and overrides of this very call, in its order, which names variants' folders.
        config=json.dumps(config),
        code=code_hash("eflops.report"),
    message:
        "Write the report"
    shell:
        "python -m eflops report shown --config {params.config:q} --out {output:q} > {log:q} 2>&1"
