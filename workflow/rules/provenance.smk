# What the results were made with: the checked config and the hash of every module.
from eflops.code import combined
from eflops.provenance.study import present_code


rule study:
    output:
        f"{RESULTS}/study.json",
    log:
        f"{RESULTS}/logs/study.log",
    benchmark:
        f"{RESULTS}/benchmarks/study.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=200,
        runtime=2,
    params:
        config=json.dumps(STUDY.model_dump(mode="json")),
        code=lambda wildcards: combined(present_code(STUDY)),
    message:
        "Write down the config and the code"
    shell:
        "python -m eflops study --config {params.config:q} --out {output:q} > {log:q} 2>&1"
