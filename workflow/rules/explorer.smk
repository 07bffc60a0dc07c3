# The page on which every number opens to its runs.
from eflops.explorer.page import assets_hash


rule explorer:
    """Make the page on which every number opens to its runs."""
    input:
        [product_files(kind, target) for kind in ("table", "figure") for target in WHOLE],
        rules.scorecard.output,
        rules.summary.output,
        rules.study.output,
    output:
        results(paths.EXPLORER),
    log:
        logs("explorer"),
    benchmark:
        benchmarks("explorer")
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        results=subpath(output[0], parent=True),
        page=assets_hash(),
        code=code_of("explorer", "eflops.explorer.make", *(product.module for product in PRODUCTS.values())),
    message:
        "Make the page on which every number opens"
    script:
        "../scripts/explorer.py"
