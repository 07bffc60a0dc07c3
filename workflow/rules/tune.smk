# The searches: their trials are trained and gathered like any other runs; here they are ranked and the best are chosen.


def searched_settings(wildcards):
    """Which settings a search sets for each method, as JSON."""
    search = STUDY.searches[SEARCH_OF[wildcards.dataset]]
    common, own = [*search.settings, *search.ranges], search.method_ranges
    return json.dumps({name: [*common, *own.get(name, {})] for name in search.methods})


SEARCH_OF = {search.dataset: name for name, search in STUDY.searches.items()}


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
    params:
        metric=lambda wildcards: STUDY.searches[SEARCH_OF[wildcards.dataset]].metric,
        searched=searched_settings,
        code=code_hash("eflops.analysis.tuning"),
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Rank the trials on {wildcards.dataset}"
    shell:
        PYTHON + " rank {input:q} --metric {params.metric} --searched {params.searched:q}"
        " --out {output.trials:q} --chosen {output.chosen:q} > {log:q} 2>&1"
