# Every number and claim of the paper, judged by the runs of those experiments that the config has; and what it comes to.
from eflops.analysis.needs import TARGETS, judges, needs, summary_sources, summary_trials
from eflops.code import combined
from eflops.files import sha256_bytes
from eflops.config.study import present_code

JUDGED = [name for name in needs(ROOT / TARGETS) if name in STUDY.experiments]
JUDGES = code_of("scorecard", "eflops.analysis.scorecard.make", *judges(ROOT / TARGETS))
SUMMARISED = summary_sources(PRODUCTS.values())
SUMMARISED_TRIALS = summary_trials(PRODUCTS.values())
CODE = f"{combined(present_code(STUDY))} {code_of('study', 'eflops.script')}"


rule scorecard:
    """Judge every number and claim of the paper."""
    input:
        plan=asked("scorecard", judged_labels(None), JUDGES),
        targets=project(TARGETS),
        runs=filled(paths.GATHERED, experiment=JUDGED),
        curves=filled(paths.CURVES, experiment=JUDGED),
        supports=filled(paths.SUPPORTS, experiment=JUDGED),
    output:
        markdown=results("scorecard.md"),
        json=results(paths.SCORECARD),
    log:
        logs("scorecard"),
    benchmark:
        benchmarks("scorecard")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.markdown, parent=True),
        labels=judged_labels,
        experiments=JUDGED,
        code=JUDGES,
    message:
        "Judge the paper's numbers and claims"
    script:
        "../scripts/scorecard.py"


rule summary:
    """Sum up what was found, in a few sentences."""
    input:
        results(*SUMMARISED),
        [project(path) for path in SUMMARISED_TRIALS],
    output:
        results(paths.SUMMARY),
        results(paths.SUMMARY_TEXT),
        results(paths.SUMMARY_OF_REPORT),
    log:
        logs("summary"),
    benchmark:
        benchmarks("summary")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output[0], parent=True),
        sources=SUMMARISED,
        trials=SUMMARISED_TRIALS,
        code=code_of("summary", "eflops.analysis.summary.write"),
    message:
        "Sum up what was found"
    script:
        "../scripts/summary.py"


rule study:
    """Write down the config and the code that the results were made with."""
    input:
        plan=asked("study", sha256_bytes(whole_config(None).encode()), CODE),
    output:
        results(paths.STUDY),
    log:
        logs("study"),
    benchmark:
        benchmarks("study")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=200,
        runtime=2,
    params:
        config=whole_config,
        code=CODE,
    message:
        "Write down the config and the code"
    script:
        "../scripts/study.py"
