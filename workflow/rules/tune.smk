# The searches: their trials are trained and gathered like any other runs; here they are ranked and the best are chosen.


rule rank:
    input:
        lambda wildcards: f"{RESULTS}/gathered/{SEARCH_OF[wildcards.dataset]}.csv",
    output:
        trials=f"{RESULTS}/tuning/{{dataset}}.csv",
        chosen=f"{RESULTS}/tuning/{{dataset}}.json",
    log:
        f"{RESULTS}/logs/tuning/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tuning/{{dataset}}.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        metric=lambda wildcards: STUDY.searches[SEARCH_OF[wildcards.dataset]].metric,
        searched=searched_settings,
        code=code_hash("eflops.analysis.tuning"),
    message:
        "Rank the trials on {wildcards.dataset}"
    shell:
        "python -m eflops rank {input:q} --metric {params.metric} --searched {params.searched:q}"
        " --out {output.trials:q} --chosen {output.chosen:q} > {log:q} 2>&1"
