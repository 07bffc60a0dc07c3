# Every number and claim of the paper, compared with the runs of those experiments that the config has; and a summary.


rule scorecard:
    """Compare every number and claim of the paper with the runs."""
    input:
        targets=project("resources/paper/targets.yaml"),
        runs=expand("<results>/gathered/{experiment}.csv", experiment=JUDGED),
        curves=expand("<results>/gathered/{experiment}.curves.csv", experiment=JUDGED),
        supports=expand("<results>/gathered/{experiment}.supports.csv", experiment=JUDGED),
        genes=gene_lists(),
        spec=local("<wanted>/scorecard.json"),
    output:
        markdown="<results>/scorecard.md",
        json="<results>/scorecard.json",
        spec="<results>/specs/scorecard.json",
    log:
        "<logs>/scorecard.log",
    benchmark:
        "<benchmarks>/scorecard.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.markdown, parent=True),
        spec=spec_digest,
    message:
        "Compare the paper's numbers and claims"
    script:
        "../scripts/scorecard.py"


rule summary:
    """Summarise the results in a few sentences."""
    input:
        [f"<results>/{path}" for path in SUMMARISED],
        [project(path) for path in SUMMARISED_TRIALS],
        spec=local("<wanted>/summary.json"),
    output:
        json="<results>/summary.json",
        markdown="<results>/summary.md",
        report="<results>/summary.rst",
        spec="<results>/specs/summary.json",
    log:
        "<logs>/summary.log",
    benchmark:
        "<benchmarks>/summary.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.markdown, parent=True),
        spec=spec_digest,
    message:
        "Summarise the results"
    script:
        "../scripts/summary.py"


rule study:
    """Record the config and the code that the results were made with."""
    input:
        spec=local("<wanted>/study.json"),
    output:
        study="<results>/study.json",
        spec="<results>/specs/study.json",
    log:
        "<logs>/study.log",
    benchmark:
        "<benchmarks>/study.tsv"
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=200,
        runtime=2,
    params:
        spec=spec_digest,
    message:
        "Record the config and the code"
    script:
        "../scripts/study.py"
