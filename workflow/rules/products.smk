# Tables and figures, from gathered records alone.


rule table:
    input:
        product_sources,
    output:
        csv=f"{RESULTS}/tables/{{name}}.csv",
        markdown=f"{RESULTS}/tables/{{name}}.md",
        latex=f"{RESULTS}/tables/{{name}}.tex",
        html=report(
            f"{RESULTS}/tables/{{name}}.html",
            caption="../report/product.rst",
            category=lambda wildcards: PRODUCTS[wildcards.name].category,
            subcategory="Tables",
            labels=product_labels,
        ),
    log:
        f"{RESULTS}/logs/tables/{{name}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tables/{{name}}.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.csv, ancestor=2),
        context=CONTEXT,
        title=product_title,
        code=product_code,
    message:
        "Table {wildcards.name}"
    shell:
        "python -m eflops table {wildcards.name} --results {params.results} --context {params.context:q}"
        " --out {output:q} > {log:q} 2>&1"


rule figure:
    input:
        product_sources,
    output:
        svg=report(
            f"{RESULTS}/figures/{{name}}.svg",
            caption="../report/product.rst",
            category=lambda wildcards: PRODUCTS[wildcards.name].category,
            subcategory="Figures",
            labels=product_labels,
        ),
        pdf=f"{RESULTS}/figures/{{name}}.pdf",
        png=f"{RESULTS}/figures/{{name}}.png",
        csv=f"{RESULTS}/figures/{{name}}.csv",
    log:
        f"{RESULTS}/logs/figures/{{name}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/figures/{{name}}.tsv"
    conda:
        "../../envs/eflops.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.csv, ancestor=2),
        context=CONTEXT,
        title=product_title,
        code=product_code,
    message:
        "Figure {wildcards.name}"
    shell:
        "python -m eflops figure {wildcards.name} --results {params.results} --context {params.context:q}"
        " --out {output:q} > {log:q} 2>&1"
