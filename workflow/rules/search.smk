# The searches: their trials are trained and gathered like any other runs; here they are ranked and the best are chosen.


rule rank:
    """Rank the trials of a search and choose the best of each method."""
    input:
        runs=trial_file(".csv"),
        supports=trial_file(".supports.csv"),
        targets=project("resources/paper/targets.yaml"),
        spec=local("<wanted>/search/{dataset}.json"),
    output:
        trials="<results>/search/{dataset}.csv",
        chosen="<results>/search/{dataset}.json",
        # One row per run, so that anybody can rank again without the records of the search.
        runs="<results>/search/{dataset}.runs.csv.gz",
        spec="<results>/specs/search/{dataset}.json",
    log:
        "<logs>/search/{dataset}.log",
    benchmark:
        "<benchmarks>/search/{dataset}.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        spec=spec_digest,
    message:
        "Rank the trials on {wildcards.dataset}"
    script:
        "../scripts/rank.py"
