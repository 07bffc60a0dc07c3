# The results explorer: a page that leads from every number to its runs.


rule explorer:
    """Make the results explorer."""
    input:
        # All of a whole run, because the page reads the results folder, and files could still be missing or change.
        WHOLE_PRODUCTS,
        "<results>/scorecard.json",
        "<results>/summary.json",
        "<results>/summary.md",
        "<results>/study.json",
        spec=local("<wanted>/explorer.json"),
    output:
        page="<results>/explorer.html",
        spec="<results>/specs/explorer.json",
    log:
        "<logs>/explorer.log",
    benchmark:
        "<benchmarks>/explorer.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        results=subpath(output.page, parent=True),
        spec=spec_digest,
    message:
        "Make the results explorer"
    script:
        "../scripts/explorer.py"
