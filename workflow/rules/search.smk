# The searches: their trials are trained and gathered like any other runs; here they are ranked and the best are chosen.

from eflops.analysis.needs import TARGETS


rule rank:
    """Rank the trials of a search and choose the best of each method."""
    input:
        plan=lambda wildcards: SEARCH_PLANS[wildcards.dataset],
        runs=lambda wildcards: results(paths.GATHERED.format(experiment=SEARCH_OF[wildcards.dataset])),
        supports=lambda wildcards: results(paths.SUPPORTS.format(experiment=SEARCH_OF[wildcards.dataset])),
        targets=project(TARGETS),
    output:
        trials=results(paths.TRIALS),
        chosen=results(paths.CHOSEN),
        runs=results(paths.SEARCH_RUNS),
    log:
        logs("search/{dataset}"),
    benchmark:
        benchmarks("search/{dataset}")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        search=lambda wildcards: search_slice(wildcards.dataset),
        code=code_of("rank", "eflops.analysis.search"),
    message:
        "Rank the trials on {wildcards.dataset}"
    script:
        "../scripts/rank.py"
