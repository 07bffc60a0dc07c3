# Tables and figures, from gathered records alone.


rule table:
    """Make one table as CSV, Markdown, LaTeX and HTML."""
    input:
        product_sources,
        plan=product_plan,
    output:
        csv=results(paths.product("table", "{name}")),
        markdown=results(paths.product("table", "{name}", "md")),
        latex=results(paths.product("table", "{name}", "tex")),
        html=report(
            results(paths.product("table", "{name}", "html")),
            caption="../report/product.rst",
            category=product_category,
            subcategory="Tables",
            labels=product_labels,
        ),
    log:
        logs("tables/{name}"),
    benchmark:
        benchmarks("tables/{name}")
    wildcard_constraints:
        name=names("table"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.csv, ancestor=2),
        job=product_slice,
        title=product_title,
        code=product_code,
    message:
        "Table {wildcards.name}"
    script:
        "../scripts/table.py"


rule figure:
    """Draw one figure as SVG, PDF and PNG, with its numbers as CSV."""
    input:
        product_sources,
        plan=product_plan,
    output:
        svg=report(
            results(paths.product("figure", "{name}", "svg")),
            caption="../report/product.rst",
            category=product_category,
            subcategory="Figures",
            labels=product_labels,
        ),
        pdf=results(paths.product("figure", "{name}", "pdf")),
        png=results(paths.product("figure", "{name}", "png")),
        csv=results(paths.product("figure", "{name}")),
    log:
        logs("figures/{name}"),
    benchmark:
        benchmarks("figures/{name}")
    wildcard_constraints:
        name=names("figure"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.csv, ancestor=2),
        job=product_slice,
        title=product_title,
        code=product_code,
    message:
        "Figure {wildcards.name}"
    script:
        "../scripts/figure.py"
